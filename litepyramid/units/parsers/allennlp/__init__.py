"""allennlp."""
