"""Three hundred variations of folders, versions and saved results: none is silent."""

import pytest

pytest.importorskip("torch", reason="the folder of a model needs torch")

from variations import (  # noqa: F401
    test_a_folder_that_loads_otherwise_has_another_name,
    test_no_saved_result_is_another_one_unsaid,
    test_no_version_is_another_one_unsaid,
)
