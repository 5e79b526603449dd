"""The embedded parser: frames from dependencies, and names for pronouns."""
