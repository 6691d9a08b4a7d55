"""Models as users have them: raw text to vectors."""
