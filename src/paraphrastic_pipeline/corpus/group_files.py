"""Read the rows of a corpus of groups: aligned lines of text files, or rows of tables."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from paraphrastic.base.errors import InputError, cut
from paraphrastic.base.numbers import is_count
from paraphrastic.base.text_files import COMPRESSED_SUFFIXES
from paraphrastic_pipeline.base.lines import UnreadableRows, aligned_lines
from paraphrastic_pipeline.base.quoted_tables import table_rows
from paraphrastic_pipeline.base.row_values import (
    RowError,
    json_records,
    parse_rows,
    readable_text,
    with_nested,
)
from paraphrastic_pipeline.registry.archive import member_names, open_members, open_stream
from paraphrastic_pipeline.registry.group_layouts import GroupLayout, matching

# What tells groups apart, and the sentences of a line or a row.
GroupRow = tuple[tuple[str, ...], list[str]]
# What each `<name>` of a pattern stands for.
_Names = tuple[tuple[str, str], ...]
# The separators of tables by the endings of their names; rows in JSON have none.
_SEPARATORS = {".csv": ",", ".tsv": "\t", ".txt": "\t", ".json": "", ".jsonl": "", ".ndjson": ""}


@dataclass(frozen=True, slots=True)
class _Text:
    """A member of an archive, or a file that is no archive."""

    path: Path
    member: str | None

    @property
    def name(self) -> str:
        """What patterns match, and what tells the format."""
        return self.path.name if self.member is None else self.member

    @property
    def place(self) -> str:
        """The archive or folder that holds it."""
        return str(self.path.parent if self.member is None else self.path)

    @property
    def label(self) -> str:
        """Its name in messages."""
        return str(self.path) if self.member is None else f"{self.path}: {self.member}"

    @contextmanager
    def opened(self, max_bytes: int) -> Iterator[BinaryIO]:
        """Its content, unpacked; more than `max_bytes` are an `InputError`."""
        if self.member is None:
            with open_stream(self.path, max_bytes=max_bytes) as stream:
                yield stream
        else:
            with open_members(self.path, [self.member], max_bytes=max_bytes) as (stream,):
                yield stream


def group_rows(
    paths: Sequence[Path], layout: GroupLayout, unreadable: UnreadableRows, *, max_bytes: int
) -> Iterator[GroupRow]:
    """The key of each row, its links to others, or its own number, and its sentences.

    Args:
        paths: text files, tables, or archives of them.
        layout: which of them are read, and where the keys and the sentences are.
        unreadable: where rows that cannot be read, or have an empty key, are noted.
        max_bytes: most bytes that a file or member may have, unpacked.

    Raises:
        InputError: a file that the layout names is missing, sides are of unequal length, or a table lacks a
            column of the layout or its list of rows.
    """
    held = [(path, member_names(path)) for path in paths]
    texts = [
        _Text(path, member) for path, members in held for member in ([None] if members is None else members)
    ]
    if layout.lines:
        for name, keys, files in _sets(texts, layout, str(paths[0])):
            yield from _lines(str(name), keys, files, unreadable, max_bytes)
    else:
        for text in _matched(layout.table, texts, str(paths[0])) if layout.table else texts:
            with text.opened(max_bytes) as stream:
                yield from _rows(stream, text, layout, unreadable)


def _lines(
    name: str, keys: Sequence[_Text], files: Sequence[_Text], unreadable: UnreadableRows, max_bytes: int
) -> Iterator[GroupRow]:
    """The rows of files that are aligned by line; `name` tells their keys from those of other files."""
    with ExitStack() as stack:
        every = [*keys, *files]
        streams = [stack.enter_context(text.opened(max_bytes)) for text in every]
        for number, texts in aligned_lines(streams, [text.label for text in every], unreadable):
            if not keys:
                yield (name, "", str(number)), list(texts)
            elif texts[0].strip():
                yield (name, texts[0]), list(texts[1:])
            else:
                # All lines without a key would be one group.
                unreadable.add(keys[0].label, number, "has an empty key")


def _sets(
    texts: Sequence[_Text], layout: GroupLayout, label: str
) -> Iterator[tuple[tuple[_Names, str], list[_Text], list[_Text]]]:
    """Files that are aligned by line: the name of a set, the file with its keys, if any, and the others."""
    lines, keys = (_matched(patterns, texts, label) for patterns in (layout.lines, layout.keys))
    # If two archives have files of the same names, each of them has a set of its own.
    counts = Counter((of, text.name) for text, of in (lines | keys).items())
    alike = {of for (of, _), count in counts.items() if count > 1}
    sets: dict[tuple[_Names, str], tuple[list[_Text], list[_Text]]] = {}
    for number, matches in enumerate((keys, lines)):
        for text, of in matches.items():
            sets.setdefault((of, text.place if of in alike else ""), ([], []))[number].append(text)
    for name, (with_keys, files) in sorted(sets.items()):
        if not files:
            cause = "belong to no file of lines:…; the <name>s of both must stand for the same"
            raise InputError(f"{with_keys[0].label}: the keys {cause}")
        if len(with_keys) > 1:
            raise InputError(f"{with_keys[0].label}: the same lines have other keys in {with_keys[1].label}")
        yield name, with_keys, files


def _matched(patterns: Sequence[str], texts: Sequence[_Text], label: str) -> dict[_Text, _Names]:
    """The texts that any of the patterns matches, by name, and what its `<name>`s stand for."""
    ordered, found = sorted(texts, key=lambda text: text.name), dict[_Text, _Names]()
    names = list(dict.fromkeys(text.name for text in texts))
    for pattern in patterns:
        if not (matches := matching(pattern, names)):
            some = ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
            raise InputError(f"{label}: no file matches {pattern}; there are {some}")
        found |= {text: matches[text.name] for text in ordered if text.name in matches and text not in found}
    return found


def _rows(
    stream: BinaryIO, text: _Text, layout: GroupLayout, unreadable: UnreadableRows
) -> Iterator[GroupRow]:
    """The rows of a table that satisfy the layout's conditions."""
    conditions = dict(layout.where)
    wanted = (*layout.text, *layout.key, *layout.link, *conditions)

    def parse(number: int, record: Mapping[str, Any]) -> GroupRow | None:
        for column in wanted:
            if column not in record:
                raise RowError(f"has no {column}")
        if any(_plain(record[column]) != value for column, value in conditions.items()):
            return None
        texts = [readable_text(record[column], column) for column in layout.text]
        columns = layout.key or layout.link
        for column in columns:
            # All rows without a value would be one group, or linked to each other.
            if (value := record[column]) is None or (isinstance(value, str) and not value.strip()):
                raise RowError(f"has an empty {column}")
        return tuple(_plain(record[column]) for column in columns) or (text.label, "", str(number)), texts

    records = _records(stream, text, layout, wanted, unreadable)
    return (row for row in parse_rows(records, parse, text.label, unreadable) if row is not None)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _records(
    stream: BinaryIO, text: _Text, layout: GroupLayout, wanted: Sequence[str], unreadable: UnreadableRows
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The rows of a table, by column, with their numbers; its name says which kind of table it is."""
    name = PurePosixPath(text.name.lower())
    ending = (name.with_suffix("") if name.suffix in COMPRESSED_SUFFIXES else name).suffix
    if ending not in _SEPARATORS:
        endings = ", ".join(_SEPARATORS)
        raise InputError(f"{text.label}: is no table: its name has none of the endings {endings}")
    if layout.rows and ending != ".json":
        raise InputError(f"{text.label}: rows:{layout.rows} is for .json files, not for {ending}")
    if ending == ".json":
        rows = enumerate(_json_rows(stream, text.label, layout.rows), start=1)
        return parse_rows(rows, lambda number, row: (number, with_nested(row)), text.label, unreadable)
    if separator := _SEPARATORS[ending]:
        has_header = not all(map(is_count, wanted))
        return table_rows(stream, text.label, separator, wanted, unreadable, has_header=has_header)
    return json_records(stream, text.label, unreadable)


def _json_rows(stream: BinaryIO, label: str, path: str) -> list[Any]:
    """The objects in the list at `path` of a JSON file, which is read as a whole."""
    try:
        content = json.load(stream)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{label}: not JSON: {error}") from None
    for step in path.split(".") if path else []:
        if not isinstance(content, dict) or step not in content:
            held = cut(", ".join(map(str, content))) if isinstance(content, dict) else "no keys"
            raise InputError(f"{label}: has no rows in {path}: no {step}; it holds {held}")
        content = content[step]
    if not isinstance(content, list):
        raise InputError(f"{label}: has no list of rows{f' in {path}' if path else '; name it by rows:…'}")
    return content
