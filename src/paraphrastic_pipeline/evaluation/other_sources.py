"""STS 2017 and BUCC as the Hugging Face Hub has them, put into the form of their original files."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.corpus.lines import readable_lines
from paraphrastic_pipeline.evaluation.testset_names import TRACKS
from paraphrastic_pipeline.registry.archive import open_stream

_MAX_BYTES = 1 << 26


def track_of(path: Path) -> tuple[str, str]:
    """A file of `mteb/sts17-crosslingual-sts` as a track's file in the archive of STS: its name and lines.

    The languages of the track are in the file's name, such as `en-ar.jsonl.gz`. Each line is a JSON object
    with `sentence1`, `sentence2` and `score`.

    Raises:
        InputError: the file is not of a track, or a line is another one.
    """
    languages = path.name.partition(".")[0]
    track = next((one for one in TRACKS.values() if "-".join(one.languages) == languages), None)
    if track is None:
        raise InputError(f"{path}: is not named after the languages of a track of STS 2017")
    lines = []
    with open_stream(path, max_bytes=_MAX_BYTES) as stream:
        for number, line in readable_lines(stream, str(path)):
            try:
                row = json.loads(line)
                cells = [str(row[key]) for key in ("sentence1", "sentence2", "score")]
            except (ValueError, LookupError, TypeError):
                cause = "is not a JSON object with sentence1, sentence2 and score"
                raise InputError(f"{path}:{number}: {cause}") from None
            lines.append("\t".join(" ".join(cell.split()) for cell in cells))
    return f"STS17-test/STS.input.{track.file}.txt", "\n".join(lines)


def bucc_rows(
    path: Path, languages: tuple[str, str], columns: tuple[str, str, str]
) -> tuple[list[dict[str, str]], list[tuple[str, str]]]:
    """BUCC's sentences by id in two languages, and the gold pairs of ids, from a Parquet file of `mteb/BUCC`.

    The file has one row of lists: the sentences of both languages, and pairs of their numbers from 1.
    Sentences get the ids that they have in BUCC's own files, such as `de-000000001`.

    Raises:
        InputError: the file is another one, or a gold pair has a number that no sentence has.
    """
    import pyarrow as pa
    from pyarrow.parquet import read_table

    try:
        (row,) = read_table(path, columns=list(columns)).to_pylist()
        *sides, gold = (list(row[column]) for column in columns)
        texts = [[str(text).strip() for text in side] for side in sides]
        numbers = [(int(source), int(target)) for source, target in gold]
    except (OSError, pa.ArrowException, ValueError, TypeError, LookupError) as error:
        cause = " ".join(str(error).split())
        raise InputError(f"{path}: is not one row of {', '.join(columns)}: {cause}") from None
    for pair in numbers:
        if not all(0 < number <= len(side) for number, side in zip(pair, texts, strict=True)):
            raise InputError(f"{path}: gold: {pair} are not numbers of sentences, from 1")
    known = [
        {_id(language, number): text for number, text in enumerate(side, start=1)}
        for language, side in zip(languages, texts, strict=True)
    ]
    return known, [(_id(languages[0], source), _id(languages[1], target)) for source, target in numbers]


def _id(language: str, number: int) -> str:
    return f"{language}-{number:09d}"


def gold_digest(pairs: Iterable[tuple[Any, Any]]) -> str:
    """SHA-256 of BUCC's gold pairs of ids, which is that of the original file."""
    return hashlib.sha256("".join(f"{source}\t{target}\n" for source, target in pairs).encode()).hexdigest()
