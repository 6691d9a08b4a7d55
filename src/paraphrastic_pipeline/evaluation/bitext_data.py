"""Readers of the Tatoeba and BUCC test sets."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.corpus.blocks import write_table
from paraphrastic_pipeline.corpus.lines import readable_lines
from paraphrastic_pipeline.evaluation.other_sources import bucc_rows
from paraphrastic_pipeline.registry.archive import open_members, open_stream

_MAX_BYTES = 1 << 30


def prepare_tatoeba(files: Sequence[Path], testset: Path) -> None:
    """Write sentences and their translations to a Parquet file with columns `line`, `sentence`, `english`.

    Args:
        files: the sentences of a language and their English translations, aligned by line.
        testset: the Parquet file.

    Raises:
        InputError: files of unequal length, a line that is blank or not UTF-8, fewer than two pairs.
    """
    sides: list[list[str]] = []
    for path in files:
        with open_stream(path, max_bytes=_MAX_BYTES) as stream:
            sides.append([line for _, line in readable_lines(stream, str(path))])
        for number, line in enumerate(sides[-1], start=1):
            if not line.strip():
                raise InputError(f"{path}:{number}: there is no sentence on this line")
    if len(sides[0]) != len(sides[1]):
        raise InputError(f"{files[0]} has {len(sides[0])} lines but {files[1]} has {len(sides[1])}")
    if len(sides[0]) < 2:
        raise InputError(
            f"{files[0]}: has {len(sides[0])} sentences; at least two are needed to compare them"
        )
    lines = range(1, len(sides[0]) + 1)
    write_table(testset, pa.table({"line": lines, "sentence": sides[0], "english": sides[1]}))


def prepare_bucc(
    archive: Path, sentences: Path, gold: Path, *, languages: tuple[str, str], members: tuple[str, str, str]
) -> None:
    """Write the sentences of two languages, and the gold pairs of translations among them.

    Args:
        archive: the task's data.
        sentences: Parquet file to write, with columns `language`, `id`, `sentence`.
        gold: Parquet file to write, with the ids in columns `source` and `target`.
        languages: codes of source and target.
        members: names of three members of the archive: the source and the target sentences, with lines
            `id TAB sentence`, and the gold standard, with lines `id TAB id`; or of columns, if the file is
            in Parquet (see `other_sources.bucc_rows`).

    Raises:
        InputError: a missing or empty member, a line in another format, a repeated sentence id, or a gold
            pair with an unknown id.
    """
    if archive.suffix == ".parquet":
        known, pairs = bucc_rows(archive, languages, members)
    else:
        known, pairs = _archived_bucc(archive, members)
    tables = [
        pa.table({"language": [language] * len(side), "id": list(side), "sentence": list(side.values())})
        for language, side in zip(languages, known, strict=True)
    ]
    write_table(sentences, pa.concat_tables(tables))
    write_table(gold, pa.table(list(zip(*pairs, strict=True)), names=["source", "target"]))


def _archived_bucc(
    archive: Path, members: tuple[str, str, str]
) -> tuple[list[dict[str, str]], list[tuple[str, str]]]:
    known: list[dict[str, str]] = []
    with open_members(archive, members, max_bytes=_MAX_BYTES) as streams:
        for stream, member in zip(streams[:2], members[:2], strict=True):
            side: dict[str, str] = {}
            for at, (key, text) in _cells(stream, f"{archive}: {member}", "id and sentence"):
                if key in side:
                    raise InputError(f"{at}: the id {key!r} occurs again")
                side[key] = text
            known.append(side)
        pairs = []
        for at, pair in _cells(streams[2], f"{archive}: {members[2]}", "two ids"):
            for key, side, member in zip(pair, known, members[:2], strict=True):
                if key not in side:
                    raise InputError(f"{at}: the id {key!r} is not in {member}")
            pairs.append(pair)
    return known, pairs


def _cells(stream: BinaryIO, label: str, what: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """The location of each line, for errors, and its two cells, stripped of white space."""
    has_lines = False
    for number, line in readable_lines(stream, label):
        first, tab, second = line.partition("\t")
        if not tab or not first.strip():
            raise InputError(f"{label}:{number}: expected {what} with a tab between them")
        has_lines = True
        yield f"{label}:{number}", (first.strip(), second.strip())
    if not has_lines:
        raise InputError(f"{label}: is empty")
