"""Every published number of ZB21 that the data and models at hand allow, beside ours.

    python scripts/reproduce_zb21.py ../shared/data [--checkpoints FOLDER] [--offline] [-f csv]

DATA holds realsumm, pyrxsum, tac08, tac09 in the authors' layout, those that there are. Checkpoints
are taken from FOLDER/NAME (the part of the hub id after the slash) if that is there, else from the
hub. What cannot be run is named with the reason.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from zb21 import reproduce_zb21

from litepyramid.errors import LitepyramidError
from litepyramid.judges.base import Judge
from litepyramid.judges.registry import make_judge
from litepyramid.tables import emit


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--checkpoints", type=Path)
    parser.add_argument("--offline", action="store_true")
    parser.add_argument("-f", "--format", default="table", choices=["table", "json", "csv"])
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()

    def make(name: str) -> Judge:
        local = arguments.checkpoints / name.rsplit("/", 1)[1] if arguments.checkpoints else None
        if local is not None and local.is_dir():
            return make_judge(str(local))
        return make_judge(name, offline=arguments.offline or None)

    try:
        emit(reproduce_zb21(arguments.data, make), arguments.format, arguments.output)
    except LitepyramidError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(2)


if __name__ == "__main__":
    main()
