"""Evaluation of sentence encoders by the protocols of the papers."""
