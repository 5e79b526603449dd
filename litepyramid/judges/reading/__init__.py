"""The judge that reads: words, synonyms and parses. No model to download."""
