"""Reading and writing files, one module per kind: units, summaries, labels, scores,
data sets."""
