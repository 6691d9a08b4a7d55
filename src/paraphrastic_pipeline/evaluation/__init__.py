"""Evaluation of sentence encoders with the papers' protocols."""
