"""Reader of the STS test sets."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow as pa

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.corpus.blocks import write_table
from paraphrastic_pipeline.evaluation.labelled_file import LabelledFile
from paraphrastic_pipeline.evaluation.other_sources import track_of
from paraphrastic_pipeline.evaluation.testset_names import (
    BENCHMARK,
    BENCHMARK_PARTS,
    DATASETS,
    DEVELOPMENT,
    LICENSED,
    TRACKS,
)
from paraphrastic_pipeline.registry.archive import files_in

log = logging.getLogger(__name__)

MAX_ARCHIVE_BYTES = 256 << 20

_SCHEMA = pa.schema(
    {
        "year": pa.string(),
        "dataset": pa.string(),
        "line": pa.int32(),
        "sentence1": pa.string(),
        "sentence2": pa.string(),
        "gold": pa.float64(),
        "genre": pa.string(),
    }
)
# Rows of this schema.
_Rows = list[dict[str, Any]]


def prepare_sts(download: Path | Sequence[Path], testsets: Path) -> None:
    """Gather the test sets of STS 2012–2017 and of STS Benchmark, which an archive has, in one Parquet file.

    If `download` is a list, tracks of 2017 are in further files; see `other_sources.track_of`.

    Columns: `year` (or `stsb`), `dataset`, `line` (in the original file), `sentence1`, `sentence2`, `gold`
    (0–5), `genre` (STS Benchmark only). Official files have some lines without a gold score. Their `gold` is
    null, and they are not evaluated. A track of 2017 or a part of STS Benchmark that the archive lacks is
    left out. It is an `InputError` if 2012–2016 is incomplete, except for 2013's SMT, or if 2017 lacks the
    English track, which is used to choose models.
    """
    archive, *tracks = [download] if isinstance(download, Path) else download
    members = {}
    for path, stream in files_in(archive, max_bytes=MAX_ARCHIVE_BYTES):
        if _is_of_sts(PurePosixPath(path)):
            name = "/".join(PurePosixPath(path).parts[-2:])
            members[name] = LabelledFile(f"{archive}: {name}", stream.read())
    for file in tracks:
        name, text = track_of(file)
        members[name] = LabelledFile(str(file), text.encode())
    parts = chain(_english_years(archive, members), _tracks(archive, members), _benchmark(archive, members))
    write_table(testsets, pa.Table.from_pylist(list(chain.from_iterable(parts)), schema=_SCHEMA))


def _is_of_sts(name: PurePosixPath) -> bool:
    """Whether a member is in a folder of STS; macOS adds files of its own under the same names."""
    return name.parent.name.lower().startswith("sts") and "__MACOSX" not in name.parts


def _english_years(archive: Path, members: Mapping[str, LabelledFile]) -> Iterator[_Rows]:
    for year, datasets in DATASETS.items():
        for dataset in datasets:
            folder = f"STS{year[2:]}-en-test"
            sentences = members.get(f"{folder}/STS.input.{dataset}.txt")
            gold = members.get(f"{folder}/STS.gs.{dataset}.txt")
            if sentences and gold:
                # In the official files of 2016, further columns give the sources of both sentences.
                yield _rows(archive, year, dataset, sentences, ("sentence1", "sentence2"), gold)
            elif (year, dataset) == LICENSED:
                log.info("%s: STS %s lacks %s, whose sentences need a licence", archive, *LICENSED)
            else:
                kind = "gs" if sentences else "input"
                raise InputError(f"{archive}: {folder}/STS.{kind}.{dataset}.txt is missing")


def _tracks(archive: Path, members: Mapping[str, LabelledFile]) -> Iterator[_Rows]:
    for name, track in TRACKS.items():
        if member := members.get(f"STS17-test/STS.input.{track.file}.txt"):
            yield _rows(archive, "2017", name, member, ("sentence1", "sentence2", "gold"))
        elif name == DEVELOPMENT:
            raise InputError(f"{archive}: STS17-test/STS.input.{track.file}.txt is missing")


def _benchmark(archive: Path, members: Mapping[str, LabelledFile]) -> Iterator[_Rows]:
    columns = ("genre", "file", "year", "number", "gold", "sentence1", "sentence2")
    for part in BENCHMARK_PARTS:
        # The original archive's folder is called stsbenchmark.
        for folder in ("STSBenchmark", "stsbenchmark"):
            if member := members.get(f"{folder}/sts-{part}.csv"):
                yield _rows(archive, BENCHMARK, part, member, columns)


def _rows(
    archive: Path,
    year: str,
    dataset: str,
    file: LabelledFile,
    columns: Sequence[str],
    gold: LabelledFile | None = None,
) -> _Rows:
    """The pairs of a file whose lines begin with these tab-separated columns.

    Gold scores come from a file of their own or from a column. A missing one is null.
    """
    lines = file.lines()
    scores = _aligned(file, lines, gold) if gold else [""] * len(lines)
    rows = []
    for number, (line, score) in enumerate(zip(lines, scores, strict=True), start=1):
        if not line.strip() and not score.strip():
            continue
        cells = {"gold": score, **dict(zip(columns, line.split("\t"), strict=False))}
        if "sentence2" not in cells:
            what = "seven fields with tabs" if "genre" in columns else "two sentences with a tab"
            raise file.fault(number, f"expected {what} between them")
        text = cells["gold"]
        value = (gold or file).score(number, text, what="gold score") if text.strip() else None
        known = {name: cells.get(name) for name in ("sentence1", "sentence2", "genre")}
        rows.append({**known, "year": year, "dataset": dataset, "line": number, "gold": value})
    missing = sum(row["gold"] is None for row in rows)
    if missing:
        log.info(
            "%s: STS %s %s: %d of %d pairs have no gold score", archive, year, dataset, missing, len(rows)
        )
    if missing == len(rows):
        raise InputError(f"{archive}: STS {year} {dataset} has no pair with a gold score")
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
