"""One result, many forms: table, JSON, CSV, LaTeX."""
