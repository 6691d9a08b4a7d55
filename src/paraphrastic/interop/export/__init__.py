"""Models for other libraries, and how far they agree there with what they are here."""
