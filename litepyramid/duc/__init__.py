"""DUC and TAC files: `.pyr` and `.pan`, the official peer scores, conversion to
ours."""
