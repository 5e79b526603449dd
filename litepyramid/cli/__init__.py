"""The command line: one module per command group, no logic, nothing heavy imported here."""

from __future__ import annotations

import sys

from litepyramid.cli.app import app
from litepyramid.errors import LitepyramidError


def main() -> None:
    """Runs the command line; a user's mistake is one message on stderr and exit status 2."""
    try:
        app()
    except LitepyramidError as error:
        sys.stderr.write(f"litepyramid: {error}\n")
        sys.exit(2)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)
    except KeyboardInterrupt:
        sys.stderr.write("litepyramid: interrupted\n")
        sys.exit(130)
