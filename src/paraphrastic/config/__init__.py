"""The configuration: checked, completed, and what it says of models and corpora."""
