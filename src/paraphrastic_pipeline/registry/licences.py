"""Whether the licence of a data set, as the registry states it, allows commercial use.

This reads a few words, and is no legal advice: a licence that does not clearly allow commercial use counts as
unknown.
"""

import re
from typing import Literal

Use = Literal["allowed", "forbidden", "unknown"]

# Words that deny commercial use: the part NC of licences of Creative Commons, a negation before or after the
# word, and uses that leave no room for it.
_DENIAL = r"\b(no[nt]?|never|without|except|exclud\w+|prohibit\w*|forbid\w*|restrict\w*|disallow\w*)\b"
_FORBIDDEN = re.compile(
    rf"(?<![a-z])nc(?![a-z])|non[\W_]*commerc|{_DENIAL}.*commerc|commerc.*{_DENIAL}"
    r"|\b(research|academic|academia|education\w*|scholar\w*|personal|private)\b",
    re.IGNORECASE,
)
# Licences that allow it. They must be the whole text, since more words may restrict them; only an attribution
# and an address may follow.
_ALLOWED = re.compile(
    r"(cc0([- ]\d[\d.]*)?"
    # The last part is a country's, such as FR; ND forbids changes.
    r"|cc[- ]by([- ]sa)?[- ]\d[\d.]*(-(?!nd\b)[a-z]{2,3})?"
    r"|public domain|mit|apache-\d[\d.]*|bsd(-\d-clause)?"
    r"|no known restriction( \(European Parliament\))?"
    r"|free with (attribution|a link to [\w-]+(\.[\w-]+)+))"
    r"( with attribution)?( \((https?://)?[\w-]+(\.[\w-]+)+(/\S*)?\))?",
    re.IGNORECASE,
)


def commercial_use(licence: str) -> Use:
    """Whether a stated licence allows commercial use."""
    if _FORBIDDEN.search(licence):
        return "forbidden"
    return "allowed" if _ALLOWED.fullmatch(licence.strip()) else "unknown"
