"""The registry of data sets, their verified downloads, and safe reading of archives."""
