"""Files in and out: units, summaries, labels, score tables, data sets."""
