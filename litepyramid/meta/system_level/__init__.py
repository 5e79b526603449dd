"""system_level."""
