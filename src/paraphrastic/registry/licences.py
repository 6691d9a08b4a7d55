"""Whether the licence of a data set, as the registry states it, allows commercial use.

This reads a few words, and is no legal advice: a licence that does not clearly allow commercial use counts as
unknown.
"""

import re
from typing import Literal

Use = Literal["allowed", "forbidden", "unknown"]

# Licences of Creative Commons whose names have the part NC, and other words for the same.
_FORBIDDEN = re.compile(r"\bnc\b|non-?commercial|\bresearch\b", re.IGNORECASE)
_ALLOWED = re.compile(
    r"^(cc0|cc-by(-sa)?-\d|public domain|mit\b|apache-|bsd|no known restriction|free with)", re.IGNORECASE
)


def commercial_use(licence: str) -> Use:
    """Whether a stated licence allows commercial use."""
    if _FORBIDDEN.search(licence):
        return "forbidden"
    return "allowed" if _ALLOWED.search(licence) else "unknown"
