"""Data sets by name, their verified downloads, and safe reading of archives."""
