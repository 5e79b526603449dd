"""The parser that ships: frames from dependencies, and names for pronouns."""
