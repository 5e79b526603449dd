"""The system level re-examined: all inputs, close systems, stable rankings (DDR22)."""
