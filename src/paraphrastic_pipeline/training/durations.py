"""Durations in words."""


def in_words(seconds: float) -> str:
    """Seconds as `40 seconds`, `25 minutes`, `3.5 hours` or `4.0 days`."""
    for unit, size in (("days", 86400), ("hours", 3600)):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    if seconds >= 120:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds:.0f} second{'s' * (round(seconds) != 1)}"
