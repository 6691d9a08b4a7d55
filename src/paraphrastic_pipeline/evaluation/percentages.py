"""Figures × 100 and their intervals, as tables, cards and the page write them."""

from collections.abc import Sequence


def percent(value: float, digits: int = 1) -> str:
    """A figure × 100."""
    return f"{100 * value:.{digits}f}"


def percent_cells(column: str, value: float, interval: Sequence[float], *, digits: int = 1) -> dict[str, str]:
    """A figure × 100 and the ends of its interval, in the columns `{column}`, `…_low` and `…_high`."""
    ends = zip(("", "_low", "_high"), (value, *interval), strict=True)
    return {f"{column}{end}": percent(value, digits) for end, value in ends}


def bracketed(interval: Sequence[str]) -> str:
    """An interval as text, from its ends: `[64.7, 67.3]`."""
    return f"[{', '.join(interval)}]"
