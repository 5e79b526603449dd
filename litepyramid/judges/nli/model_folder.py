"""What a model's folder is known by: a hash of every file that a loader may read.

Loaders read more than the weights: shards in subfolders, vocabularies, settings that
name further files. So all files are hashed, those in subfolders too, but for those
that none reads. What would lead a loader to other files is refused.
"""

import hashlib
import os
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from litepyramid.errors import ModelError, loading
from litepyramid.files import file_type, read_json
from litepyramid.text import cut

_NEVER_READ = (".md", ".bin", ".pt", ".pth", ".h5", ".msgpack", ".ot")
"""Endings of texts about a model, and of weights in forms that are never loaded:
pickles, those of other libraries."""

CARD_FILE = "litepyramid.json"
"""A folder that holds a fine-tuned judge says here what it is."""

_ADAPTER = "adapter_config.json"
_INDEX = ".safetensors.index.json"


def hash_folder(folder: Path) -> str:
    """The SHA-256 of a model's folder: of the name and content of each of its files.

    Hidden files, texts (``.md``) and weights that are never loaded (pickles, HDF5 …)
    do not count, nor does the judge's card, whose values are part of signatures
    themselves.

    Raises:
        ModelError: A file cannot be read, or leads a loader to what is not hashed: an
            adapter of peft, weights or vocabularies outside of the folder.
    """
    files = _files_in(folder)
    _check_settings(folder, files)
    total = hashlib.sha256()

    for name, path in files.items():
        with loading("cannot be read", path=path), path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        # Name by name: a file that is renamed is another one.
        total.update(os.fsencode(name) + f"\0{digest}\n".encode())

    return f"sha256:{total.hexdigest()}"


def _files_in(folder: Path) -> dict[str, Path]:
    """The files that a loader may read, by their names within the folder, sorted."""
    files: dict[str, Path] = {}
    seen = set()

    for place, inner, names in os.walk(folder, followlinks=True):
        # Links are followed, as loaders follow them; one that leads back ends here.
        inner[:] = sorted(name for name in inner if name[0] != ".")
        entry = Path(place).stat()
        if (entry.st_dev, entry.st_ino) in seen:
            inner.clear()
            continue
        seen.add((entry.st_dev, entry.st_ino))

        for name in names:
            path = Path(place, name)
            # Any model of sentencepiece is taken, be it hidden or not.
            hidden = name[0] == "." and not name.endswith(".model")
            if hidden or name.lower().endswith(_NEVER_READ):
                continue

            kind = file_type(path)
            if kind == "other":
                raise ModelError("is no file", path=path, expected="a plain file")
            if kind == "file":
                files[path.relative_to(folder).as_posix()] = path

    files.pop(CARD_FILE, None)
    return dict(sorted(files.items()))


# Files that name further files
# ------------------------------------------------------------------------------------


def _check_settings(folder: Path, files: Collection[str]) -> None:
    """Refuses settings by which a loader would read what is not hashed."""
    if _ADAPTER in files:
        raise ModelError(
            f"the folder holds an adapter ({_ADAPTER}), which counts only where the "
            "package peft is installed",
            path=folder,
            expected="a whole model",
            hint="Merge it: model.merge_and_unload().save_pretrained(FOLDER).",
        )

    hashed = {(folder / name).resolve() for name in files}
    for name in files:
        for path in _named_in(folder, name):
            if path.resolve() not in hashed:
                raise ModelError(
                    f"names '{path}', which is no file of the model's folder",
                    path=folder / name,
                    expected="files of this folder alone",
                )


def _named_in(folder: Path, name: str) -> Iterator[Path]:
    """The files that a file of the folder names, if it is one that names any."""
    if name == "config.json":
        yield from _weights_of(folder)
    elif name == "tokenizer_config.json":
        yield from _vocabularies_of(folder)
    elif name.endswith(_INDEX):
        shards = _json_of(folder / name).get("weight_map")
        # Shards are sought from the folder, wherever in it the index lies.
        for shard in shards.values() if isinstance(shards, dict) else [shards]:
            yield folder / _weights_name(shard, folder / name, ".safetensors")


def _weights_of(folder: Path) -> Iterator[Path]:
    """The weights that the configuration names, if it names any."""
    path = folder / "config.json"
    config = _json_of(path)
    if config.get("configuration_files"):
        raise ModelError(
            "configuration_files: which one counts depends on the version of "
            "transformers",
            path=path,
            expected="one config.json",
        )

    if (weights := config.get("transformers_weights")) is not None:
        yield folder / _weights_name(weights, path, ".safetensors", _INDEX)


def _weights_name(name: Any, path: Path, *endings: str) -> str:
    if isinstance(name, str) and name.endswith(endings):
        return name
    raise ModelError(
        f"names the weights {cut(repr(name))}", path=path, expected="safetensors"
    )


def _vocabularies_of(folder: Path) -> Iterator[Path]:
    """The files that a tokenizer's settings name, where there is one.

    Most are old paths of whoever saved the model, which lead nowhere.
    """
    for key, value in _json_of(folder / "tokenizer_config.json").items():
        if not key.endswith(("_file", "_files")):
            continue
        for name in value if isinstance(value, list) else [value]:
            if isinstance(name, str):
                # One list is read from the folder, the rest from wherever one works.
                place = folder if key.endswith("_files") else Path()
                if file_type(place / name) is not None:
                    yield place / name


def _json_of(path: Path) -> dict[str, Any]:
    value = read_json(path, error=ModelError)
    return value if isinstance(value, dict) else {}
