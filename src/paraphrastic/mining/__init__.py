"""Translations among the sentences of two languages: nearest neighbours, and the pairs that they make."""
