"""Pictures, each from a table."""
