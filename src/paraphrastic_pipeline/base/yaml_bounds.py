"""Bounds of a YAML text: how deep it is nested, how much its aliases repeat, and that it asks for no code.

Snakemake's logger loads this file by itself, so it imports nothing of this package.
"""

from typing import Any

import yaml

# Levels of lists and mappings: more would overflow Python's stack somewhere.
MOST_LEVELS = 100
# With this key, Snakemake runs expressions in a configuration (https://yte-template-engine.github.io).
_RUNS_CODE = "__use_yte__"
# Characters that aliases may repeat. A few lines of aliases of aliases can stand for billions of values.
MOST_REPEATED = 1_000_000


class RefusedError(yaml.MarkedYAMLError):
    """The text is YAML, but is refused."""


class Bounds:
    """Follows the events of a YAML text, and refuses it when it exceeds a bound."""

    def __init__(self) -> None:
        self._count = self._repeated = 0
        # Anchor, count at the beginning and height so far of each list or mapping that is open.
        self._open: list[list[Any]] = []
        # Characters and height of what has an anchor.
        self._anchored: dict[str | None, tuple[int, int]] = {}

    def follow(self, event: Any) -> None:
        """Take the next event of PyYAML.

        Raises:
            RefusedError: the text is nested too deeply, its aliases repeat too much, or it asks for code.
        """
        if isinstance(event, yaml.AliasEvent):
            if any(event.anchor == anchor for anchor, *_ in self._open):
                raise _fault(f"the alias *{event.anchor} is part of what it repeats", event)
            size, height = self._anchored.get(event.anchor, (0, 0))
            self._repeated += size
            if self._repeated > MOST_REPEATED:
                raise _fault(f"aliases repeat more than {MOST_REPEATED:,} characters", event)
            self._add(event, size, height)
        elif isinstance(event, yaml.ScalarEvent):
            if event.value == _RUNS_CODE:
                raise _fault(f"with {_RUNS_CODE}, Snakemake would run code in this file; remove it", event)
            self._anchored[event.anchor] = len(event.value) + 1, 0
            self._add(event, len(event.value) + 1, 0)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._open.append([event.anchor, self._count, 0])
            self._add(event, 1, 0)
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before, height = self._open.pop()
            self._anchored[anchor] = self._count - before, height + 1
            self._add(event, 0, height + 1)

    def _add(self, event: Any, size: int, height: int) -> None:
        if len(self._open) + height > MOST_LEVELS:
            raise _fault(f"lists and mappings are nested more than {MOST_LEVELS} deep", event)
        self._count += size
        if self._open:
            self._open[-1][2] = max(self._open[-1][2], height)


def check_bounds(text: str) -> None:
    """Refuse a YAML text as `Bounds` does; faults of its syntax are left to its reader.

    Raises:
        RefusedError: the text exceeds a bound.
    """
    bounds, events = Bounds(), yaml.parse(text, Loader=yaml.SafeLoader)
    while True:
        try:
            event = next(events, None)
        except yaml.YAMLError:
            return
        if event is None:
            return
        bounds.follow(event)


def _fault(problem: str, event: Any) -> RefusedError:
    return RefusedError(problem=problem, problem_mark=event.start_mark)
