"""Encoders that can be evaluated, from this project and from elsewhere."""
