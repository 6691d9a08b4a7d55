"""The jobs of a run, and how large their files will be.

The sizes of corpora come from what is known about them, and other sizes from what the files are made of. The
MB that a step writes per MB that it reads were measured on the sample and on `config/small.yaml`.
"""

import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from paraphrastic.base.compressed import open_stream
from paraphrastic.base.errors import InputError
from paraphrastic.base.lines import UnreadableRows
from paraphrastic_pipeline.corpus.blocks import open_parquet
from paraphrastic_pipeline.corpus.tables import PairRows, jsonl_rows, parquet_rows, tsv_rows
from paraphrastic_pipeline.corpus.tmx import tmx_rows
from paraphrastic_pipeline.registry.datasets import CORPUS_KINDS, Dataset, RemoteFile
from paraphrastic_pipeline.registry.download import source_of
from paraphrastic_pipeline.registry.opus import OpusCorpus
from paraphrastic_pipeline.settings.sections.configuration import Configuration, Definition
from paraphrastic_pipeline.workflow import estimate
from paraphrastic_pipeline.workflow.need import Need
from paraphrastic_pipeline.workflow.resources import Megabytes, megabytes_on_disk, weights_mb

# Default share of the pairs that the selection keeps. It keeps 0.8 to 0.9 of the sample, 0.9 and more of
# captions and verses, and a third to four fifths of sentences for learners, many of which are short.
KEPT = 0.9
# MB of test sets and models whose size the registry does not know; BUCC's follows from its sentences.
_OTHER_MB, _OTHERS_MB = 2.0, {"bucc2018": 14.0}
# MB of pairs per MB that is read, by kind of corpus; each of five captions is in several pairs.
_EXTRACTED = {"captions": 2.8, "manythings": 0.9}
_EXTRACTED_PLAIN = 0.4
_COMPRESSED = (".gz", ".bz2", ".zst", ".zip", ".parquet")
# MB that a step writes per MB that it reads.
_RATES = {
    "import_dataset": 1.0,  # not measured
    "tokenize_pairs": 1.3 * estimate.ENCODED,
    "score_pairs": estimate.SCORED,
    "measure_similarity": estimate.SCORED,
    "translate_corpus": estimate.SCORED,
    "gather_translations": 1.0,
    "list_candidates": estimate.SELECTED,
    "sample_paraphrases": estimate.SELECTED,
    "gather_testsets": 1.5,
    "prepare_bucc": 1.43,
    "prepare_tatoeba": 0.5,
}
# `ENCODED` is for this many pieces. With fewer, pieces are shorter, and a sentence has more of them.
_ENCODED_PIECES, _ENCODED_POWER = 50_000, 0.11
# A merged pair takes 50 bytes or so, and two vectors of a teacher of 768 dimensions in float16 take 3,072.
_TEACHER_RATE = 60.0
# MB that a step writes, whatever it reads.
_WRITTEN = {
    "train_language_id": 3.3,
    "prepare_testsets": 1.5,
    "prepare_transfer": 4.0,
    "evaluate_system": 0.3,
    "evaluate_part": 0.6,
    "plot_training": 0.1,
    "plot_systems": 0.15,
    "write_report": 1.0,
}
_WRITTEN_ELSE = 0.03
# Bytes of a sentence in the sample of a corpus.
_SENTENCE_BYTES = 25
# Kinds of corpora whose size is estimated by extracting the beginning.
SAMPLED = ("tsv", "jsonl", "parquet", "tmx")
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

    Each job comes after those that it waits for.
    """

    config: Configuration
    datasets: Mapping[str, Dataset]
    opus: Mapping[str, OpusCorpus]
    jobs: list[Job] = field(default_factory=list)


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

    def add(self, job: Job) -> tuple[float, float]:
        """Add a job; return the MB of its outputs, and the MB that it has on the disk only while it runs."""
        # The first outputs are the data; the others are small.
        data = job.outputs[: self.run.config.filter_study.parts if job.step == "rank_pairs" else 1]
        written = dict.fromkeys(job.outputs, 0.0) | dict.fromkeys(data, self._data(job))
        self._known |= written
        merged = self.megabytes(job.inputs) * estimate.MERGED if job.step == "merge_pairs" else 0.0
        return sum(written.values()), merged * estimate.MERGING_BYTES / estimate.MERGED_BYTES

    def _data(self, job: Job) -> float:
        config, wildcards = self.run.config, job.wildcards

        def of_model() -> Definition:
            return config.definitions[wildcards["model"]]

        match job.step:
            case "download_file":
                return self._download(job.outputs[0])
            case "extract_corpus":
                return self._extracted(wildcards["corpus"], job.inputs)
            case "score_pairs" | "measure_similarity" | "translate_corpus":
                # A shard is a part of the first input.
                return self.megabytes(job.inputs[0]) / config.shards * _RATES[job.step]
            case "select_pairs":
                kept = self.kept.get(wildcards["corpus"], KEPT)
                return self.megabytes(job.inputs) * estimate.SELECTED * kept
            case "merge_pairs":
                return self._merged(of_model(), job.inputs)
            case "train_vocabulary":
                return _vocabulary_mb(of_model())
            case "encode_dataset" | "encode_part":
                return _encoded_rate(of_model()) * self.megabytes(job.inputs[0])
            case "embed_teacher":
                return self.megabytes(job.inputs[0]) * _TEACHER_RATE
            case "train_transformer" | "choose_transformer" | "initialise_transformer":
                return weights_mb(of_model())
            case "train_model" | "train_part" | "choose_model" | "initialise_model":
                return weights_mb(of_model()) + _vocabulary_mb(of_model())
            case "rank_pairs":
                study, merged = config.filter_study, self.megabytes(job.inputs) * estimate.MERGED
                return min(study.sample * estimate.MERGED_BYTES / 1e6, merged / study.parts)
            case "describe_corpus":
                sampled = 2 * config.statistics.sentences * _SENTENCE_BYTES / 1e6
                return min(self.megabytes(job.inputs), sampled)
        if job.step in _RATES:
            return self.megabytes(job.inputs) * _RATES[job.step]
        return _WRITTEN.get(job.step, _WRITTEN_ELSE)

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
            return self.pairs[name] * estimate.ARCHIVE_BYTES / 1e6
        if size is None:
            self.unknown.add(name)
        return size or 0.0

    def _size(self, file: RemoteFile) -> float | None:
        for address in file.addresses:
            _, place = source_of(address, self.run.config.mirror)
            if isinstance(place, Path) and place.is_file():
                return megabytes_on_disk(str(place))
        listed = self.run.opus.get(file.location)
        size = file.size or (estimate.archive_bytes(listed) if listed else None)
        return size / 1e6 if size else None

    def _extracted(self, corpus: str, inputs: Sequence[str]) -> float:
        if corpus in self.pairs:
            return self.pairs[corpus] * estimate.ARCHIVE_BYTES * estimate.EXTRACTED / 1e6
        dataset = self.run.datasets[corpus]
        if dataset.kind in SAMPLED:
            for file in dataset.files:
                # If a file is still to be downloaded, only its size is known.
                if file.location in inputs and Path(file.location).is_file():
                    sampled = extracted_mb(dataset.kind, file.location, file)
                    if sampled is not None:
                        return sampled
        rates = (
            _EXTRACTED.get(dataset.kind, estimate.EXTRACTED)
            if path.endswith(_COMPRESSED)
            else _EXTRACTED_PLAIN
            for path in inputs
        )
        return sum(self.megabytes(path) * rate for path, rate in zip(inputs, rates, strict=True))

    def _merged(self, definition: Definition, inputs: Sequence[str]) -> float:
        total = 0.0
        # The selected pairs of each corpus come first among the inputs; contaminated pairs come after.
        for corpus, path in zip(definition.corpora, inputs, strict=False):
            most, weight = definition.max_pairs.get(corpus), definition.weights.get(corpus) or 1
            size = self.megabytes(path) * estimate.MERGED
            total += weight * (size if most is None else min(size, most * estimate.MERGED_BYTES / 1e6))
        return total


def _encoded_rate(definition: Definition) -> float:
    """Return the MB of training data per MB of merged pairs; every unit has training data of its own."""
    vocabulary = definition.vocabulary
    units = {unit for unit, _ in definition.vocabularies.values()}
    return len(units) * estimate.ENCODED * (_ENCODED_PIECES / vocabulary.size) ** _ENCODED_POWER


def _vocabulary_mb(definition: Definition) -> float:
    return float(0.24 + 17e-6 * definition.vocabulary.size)


class _Ignored(UnreadableRows):
    """Ignores rows that cannot be read, such as the one that is cut off; the extraction deals with them."""

    def add(self, label: str, line: int, cause: str) -> None:
        """Do nothing."""


def extracted_mb(kind: str, path: str | Path, file: RemoteFile) -> float | None:
    """Return the MB of pairs in a file of a sampled kind; None if its beginning has no readable pair."""
    rows, share = first_rows(kind, path, file)
    read = list(rows.rows)
    return _written_mb(read) / share if read else None


def first_rows(kind: str, path: str | Path, file: RemoteFile) -> tuple[PairRows, float]:
    """Return the rows at the beginning of a file of a sampled kind, and their share of all rows."""
    path, sides, ignored = Path(path), (file.languages[0], file.languages[-1]), _Ignored(0)
    read: list[tuple[Any, ...]] = []
    scores: tuple[str, ...] = ()
    total, share = 0, 1.0
    # Cut-off XML ends with an error.
    with suppress(InputError):
        if kind == "parquet":
            with open_parquet(path) as opened:
                total = opened.metadata.num_rows
            rows = parquet_rows(path, sides, file.members, ignored)
            rows = PairRows(islice(rows.rows, _PARQUET_ROWS), rows.scores)
        else:
            content, share = _beginning(path)
            stream, label = BytesIO(content), str(path)
            if kind == "tsv":
                rows = tsv_rows(stream, label, file.members, ignored)
            elif kind == "jsonl":
                rows = jsonl_rows(stream, label, sides, file.members, ignored)
            else:
                rows = PairRows(tmx_rows(stream, label, sides, ignored))
        scores = rows.scores
        read.extend(rows.rows)
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


def _written_mb(rows: list[tuple[Any, ...]]) -> float:
    """Return the MB of rows as the extraction writes them."""
    columns = [
        pa.array(column, pa.float64() if place > 2 else None)
        for place, column in enumerate(zip(*rows, strict=True))
    ]
    buffer = pa.BufferOutputStream()
    table = pa.table(columns, [str(place) for place in range(len(columns))])
    pq.write_table(table, buffer, compression="zstd", use_dictionary=False)
    return float(buffer.getvalue().size / 1e6)
