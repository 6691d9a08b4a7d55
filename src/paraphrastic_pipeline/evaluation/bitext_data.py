"""Readers of the Tatoeba and BUCC test sets."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
from pyarrow import parquet

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.corpus.blocks import write_table
from paraphrastic_pipeline.corpus.lines import readable_lines
from paraphrastic_pipeline.evaluation.labelled_file import MAX_BYTES
from paraphrastic_pipeline.registry.archive import open_members, open_stream

# The sentences of two languages by id, and the gold pairs of ids.
_Bucc = tuple[list[dict[str, str]], list[tuple[str, str]]]


def prepare_tatoeba(files: Sequence[Path], testset: Path) -> None:
    """Write sentences and their translations to a Parquet file with columns `line`, `sentence`, `english`.

    The files are aligned by line; other lengths, or a line that is blank or not UTF-8, are an `InputError`.
    """
    sides: list[list[str]] = []
    for path in files:
        with open_stream(path, max_bytes=MAX_BYTES) as stream:
            sides.append([line for _, line in readable_lines(stream, str(path))])
        for number, line in enumerate(sides[-1], start=1):
            if not line.strip():
                raise InputError(f"{path}:{number}: there is no sentence on this line")
    if len(sides[0]) != len(sides[1]):
        raise InputError(f"{files[0]} has {len(sides[0])} lines but {files[1]} has {len(sides[1])}")
    lines = range(1, len(sides[0]) + 1)
    write_table(testset, pa.table({"line": lines, "sentence": sides[0], "english": sides[1]}))


def prepare_bucc(
    archive: Path, sentences: Path, gold: Path, *, languages: tuple[str, str], members: tuple[str, str, str]
) -> None:
    """Write the sentences of two languages, and the gold pairs of translations among them, as Parquet.

    `sentences` has the columns `language`, `id` and `sentence`, and `gold` the ids in `source` and `target`.
    `members` are three members of the archive: the source and the target sentences, with lines `id TAB
    sentence`, and the gold standard, with lines `id TAB id`; or columns, if the file is in Parquet (see
    `_bucc_of_the_hub`).

    Raises:
        InputError: a missing or empty member, a line in another format, a repeated sentence id, or a gold
            pair with an unknown id.
    """
    read = _bucc_of_the_hub if archive.suffix == ".parquet" else _archived_bucc
    known, pairs = read(archive, languages, members)
    for pair in pairs:
        for key, side, member in zip(pair, known, members[:2], strict=True):
            if key not in side:
                raise InputError(f"{archive}: {members[2]}: the id {key!r} is not in {member}")
    tables = [
        pa.table({"language": [language] * len(side), "id": list(side), "sentence": list(side.values())})
        for language, side in zip(languages, known, strict=True)
    ]
    write_table(sentences, pa.concat_tables(tables))
    write_table(gold, pa.table(list(zip(*pairs, strict=True)), names=["source", "target"]))


def _bucc_of_the_hub(path: Path, languages: tuple[str, str], columns: tuple[str, str, str]) -> _Bucc:
    """BUCC's sentences by id in two languages, and the gold pairs of ids, from a Parquet file of `mteb/BUCC`.

    The file has one row of lists: the sentences of both languages, and pairs of their numbers from 1.
    Sentences get the ids that they have in BUCC's own files, such as `de-000000001`; an `InputError` says if
    the file is another one.
    """
    try:
        (row,) = parquet.read_table(path, columns=list(columns)).to_pylist()
        first, second, gold = (row[column] for column in columns)
        known = [
            {f"{language}-{number:09d}": str(text).strip() for number, text in enumerate(side, start=1)}
            for language, side in zip(languages, (first, second), strict=True)
        ]
        source, target = languages
        return known, [(f"{source}-{one:09d}", f"{target}-{other:09d}") for one, other in gold]
    except (OSError, pa.ArrowException, ValueError, TypeError, LookupError) as error:
        cause = " ".join(str(error).split())
        raise InputError(f"{path}: is not one row of {', '.join(columns)}: {cause}") from None


def _archived_bucc(archive: Path, _: tuple[str, str], members: tuple[str, str, str]) -> _Bucc:
    known: list[dict[str, str]] = []
    with open_members(archive, members, max_bytes=MAX_BYTES) as streams:
        for stream, member in zip(streams[:2], members[:2], strict=True):
            side: dict[str, str] = {}
            for at, key, text in _cells(stream, f"{archive}: {member}"):
                if key in side:
                    raise InputError(f"{at}: the id {key!r} occurs again")
                side[key] = text
            known.append(side)
        pairs = [ids for _, *ids in _cells(streams[2], f"{archive}: {members[2]}")]
    return known, [(source, target) for source, target in pairs]


def _cells(stream: BinaryIO, label: str) -> Iterator[tuple[str, str, str]]:
    """The location of each line, for errors, and its two cells, stripped of white space."""
    at = ""
    for number, line in readable_lines(stream, label):
        at = f"{label}:{number}"
        first, tab, second = line.partition("\t")
        if not tab or not first.strip():
            raise InputError(f"{at}: expected two cells with a tab between them")
        yield at, first.strip(), second.strip()
    if not at:
        raise InputError(f"{label}: is empty")
