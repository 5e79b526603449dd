"""Files in and out, one module a kind: units, summaries, labels, score tables, data sets."""
