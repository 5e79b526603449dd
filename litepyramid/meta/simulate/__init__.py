"""Simulations: do intervals cover, and what do tests find (DDR21 §5)."""
