"""Where the sentences of a corpus of groups are: in lines, or in the rows of tables.

The column `members` of the registry, or `columns` in a configuration, has words `NAME:VALUE`:

    lines:PATTERN   text files that are aligned by line; the lines of one number are a group
    keys:PATTERN    a file with a key for each line; lines with equal keys are a group
    table:PATTERN   tables in CSV, text with tabs, JSON or JSON lines; without it, the whole file is one
    rows:PATH       the list of rows in a JSON file, such as `annotations`
    text:COLUMN     a column with sentences; may be given several times
    key:COLUMN      rows that are equal in all such columns are a group; without it, each row is one
    link:COLUMN     rows that share a value of any such column mean the same, also through other rows, but
                    pairs are drawn from each row by itself
    where:COLUMN=VALUE   only rows with this value

Patterns are names in the archive, or of the files of the data set, in which `*` stands for any characters but
a slash, `**/` for any folders and `<name>` for characters that are the same in all files of a group, such as
the name of a test set. In other values, `%20` stands for a space. If all columns are numbers, from 1, the
table has no header.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

_WORDS = ("lines", "keys", "table", "rows", "text", "key", "link", "where")
_PATTERNS = ("lines", "keys", "table")
_LISTS = (*_PATTERNS, "text", "key", "link")
_PLACE = re.compile(r"\*\*/|\*|\?|<([a-z]+)>")


@dataclass(frozen=True, slots=True)
class GroupLayout:
    """The words of a layout, see the module; those that may be given only once are empty if they are not."""

    lines: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    table: tuple[str, ...] = ()
    rows: str = ""
    text: tuple[str, ...] = ()
    key: tuple[str, ...] = ()
    link: tuple[str, ...] = ()
    where: tuple[tuple[str, str], ...] = ()


class LayoutError(Exception):
    """Words do not describe a layout; the message is the cause."""


def group_layout(words: Sequence[str]) -> GroupLayout:
    """Read the words of a layout.

    Raises:
        LayoutError: a word is unknown or without a value, or words do not go together.
    """
    given: dict[str, list[str]] = {name: [] for name in _WORDS}
    for word in words:
        name, colon, value = word.partition(":")
        if name not in given or not colon or not value:
            raise LayoutError(f"{word!r} is none of {', '.join(f'{known}:…' for known in _WORDS)}")
        given[name].append(value if name in _PATTERNS else unquote(value))
    if given["lines"] and any(given[name] for name in ("table", "rows", "text", "key", "link", "where")):
        raise LayoutError("lines:… goes with keys:… alone, as lines have no columns")
    if not given["lines"] and not given["text"]:
        raise LayoutError("needs lines:… or text:…, which say where the sentences are")
    if given["keys"] and not given["lines"]:
        raise LayoutError("keys:… is for lines:…; a table has its key in columns, key:…")
    if given["key"] and given["link"]:
        raise LayoutError("key:… and link:… do not go together, as rows of one key are a group already")
    if len(given["rows"]) > 1:
        raise LayoutError("rows:… is given twice")
    conditions = [condition.partition("=") for condition in given["where"]]
    if not all(column and equals for column, equals, _ in conditions):
        raise LayoutError("where:… needs a column and a value, such as where:is_duplicate=1")
    return GroupLayout(
        **{name: tuple(given[name]) for name in _LISTS},
        rows="".join(given["rows"]),
        where=tuple((column, value) for column, _, value in conditions),
    )


def text_layout(words: Sequence[str]) -> GroupLayout | None:
    """The layout of text without groups; a word that is only a column means `text:COLUMN`.

    Returns:
        None if there are no words: the text is then that of whole files.

    Raises:
        LayoutError: see `group_layout`, or a word says what belongs together.
    """
    if not words:
        return None
    layout = group_layout([word if ":" in word else f"text:{word}" for word in words])
    if layout.keys or layout.key or layout.link:
        raise LayoutError("text has no groups, so keys:…, key:… and link:… say nothing of it")
    return layout


def matching(pattern: str, names: Iterable[str]) -> dict[str, tuple[tuple[str, str], ...]]:
    """The names that a pattern matches, in sorted order, and what its `<name>`s stand for in each."""
    expression, last, seen = "", 0, set[str]()
    for place in _PLACE.finditer(pattern):
        expression += re.escape(pattern[last : place.start()])
        last = place.end()
        if name := place[1]:
            expression += f"(?P={name})" if name in seen else f"(?P<{name}>[^/]*?)"
            seen.add(name)
        else:
            expression += {"**/": "(?:.*/)?", "*": "[^/]*", "?": "[^/]"}[place[0]]
    whole = re.compile(expression + re.escape(pattern[last:]), re.DOTALL)
    matches = ((name, whole.fullmatch(name)) for name in sorted(names))
    return {name: tuple(sorted(match.groupdict().items())) for name, match in matches if match}
