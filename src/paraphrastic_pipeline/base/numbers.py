"""Numbers in people's files and settings, besides what `paraphrastic.base.numbers` reads."""

from contextlib import suppress

from paraphrastic.base.numbers import read_number


def is_number(text: str) -> bool:
    """Whether `read_number` reads a text."""
    with suppress(ValueError):
        read_number(text)
        return True
    return False
