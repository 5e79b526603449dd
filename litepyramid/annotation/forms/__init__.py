"""How tasks go out and answers come back: the page, Label Studio, Mechanical Turk."""
