"""Exports and logs of other tools under our columns."""
