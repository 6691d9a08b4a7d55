"""The sections of a configuration, each a class with its settings."""
