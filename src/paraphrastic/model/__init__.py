"""Models as users have them, which turn raw text into vectors."""
