"""Weights of models, looked at before a loader sees them."""

from __future__ import annotations

import zipfile
from typing import IO

from litepyramid.errors import ModelError


def check_weights(file: IO[bytes]) -> None:
    """Refuses a torch file whose parts are compressed or overlap: a small one can fill the memory.

    torch itself stores every part as it is, one after the other.

    Raises:
        ModelError: It is such a file.
    """
    if not zipfile.is_zipfile(file):
        return  # torch's old form has no parts; its loader reads no more than there is
    with zipfile.ZipFile(file) as parts:
        sizes = [(part.file_size, part.compress_size) for part in parts.infolist()]
    if any(whole != kept for whole, kept in sizes) or sum(kept for _, kept in sizes) > file.seek(
        0, 2
    ):
        raise ModelError("holds compressed weights", expected="weights as torch.save writes them")
