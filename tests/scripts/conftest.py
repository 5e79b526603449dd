"""The scripts are modules here: their folders come first on the path."""

import sys
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
sys.path[:0] = [str(SCRIPTS / "train"), str(SCRIPTS / "studies")]
