"""Presence saved in a folder while it is judged, so that a killed run can resume."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from litepyramid.errors import InputError
from litepyramid.files import writing
from litepyramid.io.columns import BROKEN, JOURNAL, open_folder
from litepyramid.io.journal import Journal
from litepyramid.types import FloatArray


class KeptPresence(Journal):
    """(N, U) presence in ``presence.npy`` of a folder, which comes window by window.

    The journal has the counts of each window whose presence stands there.

    Args:
        folder: A new one, or one in which the same was begun.
        settings: What names the judge, the summaries and the units.
        shape: N and U.

    Raises:
        InputError: As `Journal`; or the folder holds something that is not a result.
    """

    def __init__(self, folder: Path, settings: Mapping[str, Any], shape: tuple[int, int]) -> None:
        super().__init__(open_folder(folder) / JOURNAL, settings)
        self._array = (folder / "presence.npy").resolve()
        if not self.done:
            with writing(self._array):
                np.lib.format.open_memmap(self._array, "w+", np.float64, shape)
        if self.values().shape != shape:
            raise InputError("is damaged", path=self._array, hint="Delete the folder.")

    def values(self, mode: Any = "r") -> FloatArray:
        """The presence so far, mapped from the file; 0 where nothing was judged yet."""
        try:
            values = np.load(self._array, mmap_mode=mode, allow_pickle=False)
        except BROKEN as error:
            raise InputError(f"is damaged ({error})", path=self._array) from None
        return values  # type: ignore[no-any-return]

    def keep(
        self, window: int, where: tuple[slice, slice], block: FloatArray, counts: dict[str, int]
    ) -> None:
        """Keeps a window: its presence is on the disk before its counts are in the journal."""
        values: Any = self.values("r+")
        values[where] = block
        values.flush()
        if self.done.get(str(window)) != counts:
            self.add(str(window), counts)
