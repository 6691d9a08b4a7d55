"""The jobs of a run, and how large their files will be.

The sizes of corpora come from what is known about them, and other sizes from what each step writes per MB
that it reads (`need`).
"""

import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.corpus.lines import Unreadable
from paraphrastic_pipeline.corpus.readers import CorpusFile, read_pairs
from paraphrastic_pipeline.corpus.tables import PairRows
from paraphrastic_pipeline.registry.archive import open_stream
from paraphrastic_pipeline.registry.datasets import CORPUS_KINDS, Dataset, RemoteFile
from paraphrastic_pipeline.registry.download import source_of
from paraphrastic_pipeline.registry.opus import OpusCorpus
from paraphrastic_pipeline.settings.sections.configuration import Configuration
from paraphrastic_pipeline.workflow.estimate import archive_bytes
from paraphrastic_pipeline.workflow.need import ARCHIVED_PAIR, MERGED_PAIR, MERGING, NEEDS, Need
from paraphrastic_pipeline.workflow.resources import Megabytes, megabytes_on_disk

# Default share of the pairs that the selection keeps. It keeps 0.8 to 0.9 of the sample, 0.9 and more of
# captions and verses, and a third to four fifths of sentences for learners, many of which are short.
KEPT = 0.9
# MB of test sets and models whose size the registry does not know; BUCC's follows from its sentences.
_OTHER_MB, _OTHERS_MB = 2.0, {"bucc2018": 14.0}
# MB of pairs per MB that is read: of plain text; and of captions, each of which is in several pairs.
_PLAIN, _CAPTIONS = 0.4, 2.8
_COMPRESSED = (".gz", ".bz2", ".zst", ".zip", ".parquet")
# MB of an output if nothing else is said about it.
_SMALL_MB = 0.03
# Kinds of corpora whose size is estimated from the rows at the beginning.
SAMPLED = ("tsv", "csv", "jsonl", "parquet", "tmx")
# Bytes to read from the beginning of such a file, and the most bytes to take of its uncompressed content.
_HEAD_BYTES, _MAX_BYTES = 1 << 21, 1 << 26
_PIECE_BYTES = 1 << 16
_PARQUET_ROWS = 20_000


@dataclass(frozen=True, slots=True)
class Job:
    """A job of a run.

    `step` is its rule. `of` names the model, system or corpus that it is for. `inputs` and `outputs` are
    paths. `after` has the places, in the list of all jobs, of those that it waits for. `need` takes a
    function that returns the MB of files, which need not exist yet. `number` is Snakemake's name for it.
    """

    step: str
    of: str
    wildcards: Mapping[str, str]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    threads: int
    after: tuple[int, ...]
    need: Callable[[Megabytes], Need]
    number: int = -1


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """A run: the checked configuration, all data sets by name, corpora of OPUS by path, and the jobs.

    Each job comes after those that it waits for. `guessed` has the Transformers whose size is not known.
    """

    config: Configuration
    datasets: Mapping[str, Dataset]
    opus: Mapping[str, OpusCorpus]
    jobs: list[Job] = field(default_factory=list)
    guessed: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Sizes:
    """Sizes of a run's files in MB, found as its jobs are added in their order.

    Args:
        pairs: number of pairs by name of the corpus, in each language pair that the corpus is used in.
        kept: share of the pairs that the selection keeps, by name of the corpus.
        unknown: corpora of unknown size that were found.
        assumed: other data sets of unknown size that were found.
    """

    run: PlannedRun
    pairs: Mapping[str, int] = field(default_factory=dict)
    kept: Mapping[str, float] = field(default_factory=dict)
    unknown: set[str] = field(default_factory=set)
    assumed: set[str] = field(default_factory=set)
    _known: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in (*self.pairs, *self.kept):
            if name not in self.run.datasets or self.run.datasets[name].kind not in CORPUS_KINDS:
                raise InputError(f"{name!r} is not a corpus of the configuration")

    def megabytes(self, paths: str | Iterable[str]) -> float:
        """Return the MB of one or more files that exist or that an added job makes."""
        paths = [paths] if isinstance(paths, str) else paths
        return sum(self._known[path] if path in self._known else megabytes_on_disk(path) for path in paths)

    def add(self, job: Job) -> tuple[Need, float, float]:
        """Add a job; return its need, the MB of its outputs, and those that it has only while it runs."""
        need = job.need(self.megabytes)
        # The first outputs are the data; the others are small.
        data = job.outputs[:1]
        written = self._data(job, need) or _SMALL_MB
        self._known |= dict.fromkeys(job.outputs, 0.0) | dict.fromkeys(data, written)
        merging = MERGING * self.megabytes(job.inputs) if job.step == "merge_pairs" else 0.0
        return need, len(data) * written, merging

    def _data(self, job: Job, need: Need) -> float:
        """Return the MB of each of a job's data files, which its need or the user's options say."""
        match job.step:
            case "download_file":
                return self._download(job.outputs[0])
            case "extract_corpus":
                return self._extracted(job.wildcards["corpus"], job.inputs)
            case "select_pairs":
                return need.disk_mb * self.kept.get(job.wildcards["corpus"], KEPT)
            case "merge_pairs":
                return self._merged(job)
        return need.disk_mb

    def _download(self, path: str) -> float:
        file = next(
            file for dataset in self.run.datasets.values() for file in dataset.files if file.location == path
        )
        name, size = file.dataset, self._size(file)
        if self.run.datasets[name].kind not in CORPUS_KINDS:
            if size is None:
                self.assumed.add(name)
            return _OTHERS_MB.get(name, _OTHER_MB) if size is None else size
        if name in self.pairs:
            return self.pairs[name] * ARCHIVED_PAIR
        if size is None:
            self.unknown.add(name)
        return size or 0.0

    def _size(self, file: RemoteFile) -> float | None:
        for address in file.addresses:
            _, place = source_of(address, self.run.config.mirror)
            if isinstance(place, Path) and place.is_file():
                return megabytes_on_disk(str(place))
        listed = self.run.opus.get(file.location)
        size = file.size or (archive_bytes(listed) if listed else None)
        return size / 1e6 if size else None

    def _extracted(self, corpus: str, inputs: Sequence[str]) -> float:
        rate, dataset = NEEDS["extract_corpus"].disk_per_mb, self.run.datasets[corpus]
        if corpus in self.pairs:
            return self.pairs[corpus] * ARCHIVED_PAIR * rate
        for file in dataset.files if dataset.kind in SAMPLED else ():
            # If a file is still to be downloaded, only its size is known.
            if file.location in inputs and Path(file.location).is_file():
                rows, share = first_rows(dataset.kind, file.location, file)
                if text := sum(len(f"{source}{target}".encode()) for source, target, *_ in rows.rows):
                    return text / share * _PLAIN / 1e6
        compressed = _CAPTIONS if dataset.kind == "captions" else rate
        return sum(
            self.megabytes(path) * (compressed if path.endswith(_COMPRESSED) else _PLAIN) for path in inputs
        )

    def _merged(self, job: Job) -> float:
        definition, rate = self.run.config.definitions[job.wildcards["model"]], NEEDS[job.step].disk_per_mb
        total = 0.0
        # The selected pairs of each corpus come first among the inputs; contaminated pairs come after.
        for corpus, path in zip(definition.names, job.inputs, strict=False):
            most, weight = definition.max_pairs.get(corpus), definition.weights.get(corpus) or 1
            size = self.megabytes(path) * rate
            total += weight * (size if most is None else min(size, most * MERGED_PAIR))
        return total


class _Ignored(Unreadable):
    """Ignores rows that cannot be read, such as the one that is cut off; the extraction deals with them."""

    def add(self, label: object, line: int, cause: object) -> None:
        """Do nothing."""


def first_rows(kind: str, path: str | Path, file: RemoteFile) -> tuple[PairRows, float]:
    """Return the rows at the beginning of a file of a sampled kind, and their share of all rows."""
    path = Path(path)
    read: list[tuple[Any, ...]] = []
    scores: Sequence[str] = ()
    total, share = 0, 1.0
    # Cut-off XML ends with an error.
    with suppress(InputError), tempfile.TemporaryDirectory() as folder:
        head = path
        if kind != "parquet":
            content, share = _beginning(path)
            # The ending of its name says what it is.
            head = Path(folder, path.name)
            head.write_bytes(content)
        rows = read_pairs(kind, [CorpusFile(head, file.languages, file.members)], _Ignored(1))
        scores = rows.scores
        if kind == "parquet":
            total = pq.read_metadata(path).num_rows
        read.extend(islice(rows.rows, _PARQUET_ROWS) if total else rows.rows)
    if total:
        share = min(1.0, len(read) / total)
    return PairRows(iter(read), scores), share


def _beginning(path: Path) -> tuple[bytes, float]:
    """Return the first content of a file, which may be compressed, and its share of the whole."""
    with tempfile.NamedTemporaryFile() as head:
        with path.open("rb") as file:
            head.write(file.read(_HEAD_BYTES))
        head.flush()
        content = bytearray()
        # Cut-off compressed data end with an error.
        with suppress(InputError), open_stream(head.name, max_bytes=_MAX_BYTES) as stream:
            while piece := stream.read(_PIECE_BYTES):
                content += piece
        return bytes(content), min(1.0, _HEAD_BYTES / max(1, path.stat().st_size))
