"""The study of scoring ranges: summaries made for each range, agreement in it (P19)."""
