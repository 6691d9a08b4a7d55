"""JSON texts of people."""

import json
from collections import Counter
from typing import Any

from paraphrastic.base.files import Json

# Levels of lists and objects in a JSON text: more would overflow Python's stack somewhere.
MOST_LEVELS = 100


def parse_json(text: str | bytes) -> Any:
    """The value of a JSON text.

    Raises:
        ValueError: the text is not JSON, is nested more than `MOST_LEVELS` deep, or has an object with a key
            twice, which programs read differently.
    """
    try:
        value = json.loads(text, object_pairs_hook=_object)
    except RecursionError:
        raise _too_deep() from None
    level = [value] if isinstance(value, list | dict) else []
    for _ in range(MOST_LEVELS):
        lists = (container.values() if isinstance(container, dict) else container for container in level)
        if not (level := [item for values in lists for item in values if isinstance(item, list | dict)]):
            return value
    raise _too_deep()


def _object(pairs: list[tuple[str, Any]]) -> Json:
    content = dict(pairs)
    if len(content) < len(pairs):
        twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise ValueError(f"an object has the key {twice[:60]!r} twice")
    return content


def _too_deep() -> ValueError:
    return ValueError(f"lists and objects are nested more than {MOST_LEVELS} deep")
