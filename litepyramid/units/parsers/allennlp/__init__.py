"""AllenNLP's semantic role archives, read and run without AllenNLP."""
