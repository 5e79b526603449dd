"""Training a judge: settings, losses, the training run, the card of the result."""
