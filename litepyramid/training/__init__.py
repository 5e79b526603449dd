"""Teaching a judge: settings, losses, the training run, the card of what came out."""
