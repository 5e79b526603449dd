"""Formats of tasks and answers: the page, Label Studio, Mechanical Turk."""
