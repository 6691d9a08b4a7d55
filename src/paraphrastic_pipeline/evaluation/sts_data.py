"""Reader of the STS test sets, from their archive and, for STS 2017, from the Hugging Face Hub."""

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pyarrow as pa

from paraphrastic.base.errors import InputError, on_one_line
from paraphrastic.base.files import Json
from paraphrastic_pipeline.corpus.blocks import write_table
from paraphrastic_pipeline.evaluation.labelled_file import LabelledFile, labelled_files
from paraphrastic_pipeline.evaluation.testset_names import (
    BENCHMARK,
    BENCHMARK_PARTS,
    DATASETS,
    DEVELOPMENT,
    LICENSED,
    TRACKS,
)

log = logging.getLogger(__name__)

_TEXTS = ("year", "dataset", "sentence1", "sentence2", "genre")
_SCHEMA = pa.schema([*((name, pa.string()) for name in _TEXTS), ("line", pa.int32()), ("gold", pa.float64())])
_PAIR = ("sentence1", "sentence2")


class _Dataset(NamedTuple):
    """A data set: its file in the archive, the columns that lines begin with, and a file of gold scores."""

    year: str
    name: str
    file: str
    columns: Sequence[str] = _PAIR
    gold: str = ""


def _datasets() -> Iterator[_Dataset]:
    for year, names in DATASETS.items():
        for name in names:
            # In the official files of 2016, further columns give the sources of both sentences.
            path = f"STS{year[2:]}-en-test/STS.{{}}.{name}.txt"
            yield _Dataset(year, name, path.format("input"), gold=path.format("gs"))
    for name, track in TRACKS.items():
        yield _Dataset("2017", name, f"STS17-test/STS.input.{track.file}.txt", (*_PAIR, "gold"))
    columns = ("genre", "file", "year", "number", "gold", *_PAIR)
    for part in BENCHMARK_PARTS:
        yield _Dataset(BENCHMARK, part, f"stsbenchmark/sts-{part}.csv", columns)


def prepare_sts(download: Path | Sequence[Path], testsets: Path) -> None:
    """Gather the test sets of STS 2012–2017 and of STS Benchmark, which an archive has, in one Parquet file.

    If `download` is a list, tracks of 2017 are in further files; see `track_of`.

    Columns: `year` (or `stsb`), `dataset`, `line` (in the original file), `sentence1`, `sentence2`, `gold`
    (0–5), `genre` (STS Benchmark only). Official files have some lines without a gold score. Their `gold` is
    null, and they are not evaluated. A track of 2017 or a part of STS Benchmark that the archive lacks is
    left out. It is an `InputError` if 2012–2016 is incomplete, except for 2013's SMT, or if 2017 lacks the
    English track, which is used to choose models.
    """
    archive, *tracks = [download] if isinstance(download, Path) else download
    names = {name for dataset in _datasets() for name in (dataset.file, dataset.gold)}
    members = labelled_files(archive, names)
    for file in tracks:
        name, text = track_of(file)
        members[name] = LabelledFile(str(file), text.encode())
    rows: list[Json] = []
    for dataset in _datasets():
        missing = [file for file in (dataset.file, dataset.gold) if file and file not in members]
        if not missing:
            rows += _rows(archive, dataset, members[dataset.file], members.get(dataset.gold))
        elif (dataset.year, dataset.name) == LICENSED:
            log.info("%s: STS %s lacks %s, whose sentences need a licence", archive, *LICENSED)
        elif dataset.year in DATASETS or dataset.name == DEVELOPMENT:
            raise InputError(f"{archive}: {missing[0]} is missing")
    write_table(testsets, pa.Table.from_pylist(rows, schema=_SCHEMA))


def track_of(path: Path) -> tuple[str, str]:
    """A file of `mteb/sts17-crosslingual-sts` as a track's file in the archive of STS: its name and lines.

    The languages of the track are in the file's name, such as `en-ar.jsonl.gz`. Each line is a JSON object
    with `sentence1`, `sentence2` and `score`; any other file is an `InputError`.
    """
    files = {"-".join(track.languages): track.file for track in TRACKS.values()}
    languages = path.name.partition(".")[0]
    try:
        rows = pd.read_json(path, lines=True, dtype=False)[["sentence1", "sentence2", "score"]]
        if rows.isna().any(axis=None):
            raise ValueError(f"a value is missing on line {1 + rows.isna().any(axis=1).argmax()}")
        lines = [
            "\t".join(" ".join(str(cell).split()) for cell in row) for row in rows.itertuples(index=False)
        ]
        return f"STS17-test/STS.input.{files[languages]}.txt", "\n".join(lines)
    except (OSError, EOFError, ValueError, LookupError) as error:
        raise InputError(f"{path}: is not a track of STS 2017: {on_one_line(error)}") from None


def _rows(archive: Path, dataset: _Dataset, file: LabelledFile, gold: LabelledFile | None) -> list[Json]:
    """The pairs of a data set; a missing gold score is null."""
    lines = file.lines()
    scores = _aligned(file, lines, gold) if gold else [""] * len(lines)
    rows = []
    for number, (line, score) in enumerate(zip(lines, scores, strict=True), start=1):
        if not line.strip() and not score.strip():
            continue
        cells = {"gold": score, **dict(zip(dataset.columns, line.split("\t"), strict=False))}
        if "sentence2" not in cells:
            what = "two sentences with a tab" if len(dataset.columns) < 7 else "seven fields with tabs"
            raise file.fault(number, f"expected {what} between them")
        text = cells["gold"]
        value = (gold or file).score(number, text, what="gold score") if text.strip() else None
        about = {"year": dataset.year, "dataset": dataset.name, "line": number, "gold": value}
        rows.append({**cells, **about})
    missing = sum(row["gold"] is None for row in rows)
    where = f"{archive}: STS {dataset.year} {dataset.name}"
    if missing == len(rows):
        raise InputError(f"{where} has no pair with a gold score")
    if missing:
        log.info("%s: %d of %d pairs have no gold score", where, missing, len(rows))
    return rows


def _aligned(sentences: LabelledFile, pairs: list[str], gold: LabelledFile) -> list[str]:
    """The lines of `gold`, one for each of `pairs`; extra blank lines at the end of either are dropped."""
    scores = gold.lines()
    while len(pairs) != len(scores) and not (longer := max(pairs, scores, key=len))[-1].strip():
        longer.pop()
    if len(pairs) != len(scores):
        gold_name = gold.name.rpartition("/")[2]
        raise InputError(f"{sentences.name} has {len(pairs)} lines but {gold_name} has {len(scores)}")
    return scores
