"""Judges and unit writers behind any OpenAI-compatible endpoint."""
