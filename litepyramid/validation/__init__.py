"""How a trainable judge does on what it has not seen: folds, cross-validation, out of the box."""
