"""Pages of results that people can open, read and send."""
