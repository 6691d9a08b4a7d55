"""Exact nearest neighbours: search, mining of translations, near duplicates."""
