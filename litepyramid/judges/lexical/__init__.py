"""The judge by words: features of what unit and summary share, and a small
regression."""
