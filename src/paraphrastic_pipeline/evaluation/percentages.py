"""Figures × 100 and their intervals, as tables, cards and the page write them."""

from collections.abc import Sequence


def percent(value: float, digits: int = 1) -> str:
    """A figure × 100."""
    return f"{100 * value:.{digits}f}"


def bracketed(interval: Sequence[str]) -> str:
    """An interval as text, from its ends: `[64.7, 67.3]`."""
    return f"[{', '.join(interval)}]"
