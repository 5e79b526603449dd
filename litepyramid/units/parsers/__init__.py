"""Parsers behind one small interface: semantic role frames, and coreference
clusters."""
