"""Judges made of NLI models: checkpoints, label maps, input modes, exact batches."""
