"""How large the files of a run will be: corpora by what is known of them, others by what they are made of.

Measured on the sample and on `config/small.yaml`: MB that a step writes for each MB that it reads.
"""

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from paraphrastic.base.errors import InputError
from paraphrastic.base.lines import UnreadableRows
from paraphrastic.config.architecture import vocabularies
from paraphrastic.corpus.blocks import open_parquet
from paraphrastic.corpus.tables import Rows, jsonl_rows, parquet_rows, tsv_rows
from paraphrastic.corpus.tmx import tmx_rows
from paraphrastic.pipeline import estimate
from paraphrastic.pipeline.resources import megabytes_on_disk, weights_mb
from paraphrastic.pipeline.run_plan.jobs import Job, Run
from paraphrastic.registry.archive import open_stream
from paraphrastic.registry.datasets import RemoteFile
from paraphrastic.registry.download import source_of
from paraphrastic.registry.kinds import CORPUS_KINDS

# Share of the pairs that the selection keeps, where nobody says otherwise: 0.8 to 0.9 of the sample, 0.9 and
# more of captions and verses; of sentences for learners, many of which are short, a third to four fifths.
KEPT = 0.9
# Test sets and models whose size the registry does not know; BUCC's by its number of sentences.
_OTHER_MB, _OTHERS_MB = 2.0, {"bucc2018": 14.0}
# MB of pairs for each MB that is read, by kind of corpus; each of five captions stands in several pairs.
_EXTRACTED = {"captions": 2.8, "manythings": 0.9}
_EXTRACTED_PLAIN = 0.4
_COMPRESSED = (".gz", ".bz2", ".zst", ".zip", ".parquet")
# MB that a step writes for each MB that it reads.
_RATES = {
    "import_dataset": 1.0,  # not measured
    "score_pairs": estimate.SCORED,
    "measure_similarity": estimate.SCORED,
    "list_candidates": estimate.SELECTED,
    "sample_paraphrases": estimate.SELECTED,
    "gather_testsets": 1.5,
    "prepare_bucc": 1.43,
    "prepare_tatoeba": 0.5,
}
# With fewer pieces than those that `ENCODED` is for, pieces are shorter, and a sentence has more of them.
_ENCODED_PIECES, _ENCODED_POWER = 50_000, 0.11
# MB that a step writes, whatever it reads.
_WRITTEN = {
    "train_language_id": 3.3,
    "prepare_sts": 1.5,
    "prepare_transfer": 4.0,
    "evaluate_sts": 0.3,
    "evaluate_part": 0.6,
    "plot_training": 0.1,
    "plot_systems": 0.15,
    "write_report": 1.0,
}
_WRITTEN_ELSE = 0.03
# Of a sentence in the sample of a corpus.
_SENTENCE_BYTES = 25
_WITH_WEIGHTS = ("train_model", "train_part", "choose_model", "initialise_model")
# Steps whose output depends on the size of all that they read.
_DEPENDENT = ("select_pairs", "rank_pairs", "describe_corpus", *_RATES)
# Steps that read a part of the first input, as many as there are shards.
_SHARDED = ("score_pairs", "measure_similarity")
# Kinds of corpora whose size is told by what is extracted of their beginning.
_SAMPLED = ("tsv", "jsonl", "parquet", "tmx")
# The bytes that are read of such a file on the disk, and the most that are taken of its content.
_HEAD_BYTES, _MAX_BYTES = 1 << 21, 1 << 26
_PIECE_BYTES = 1 << 16
_PARQUET_ROWS = 20_000


@dataclass(slots=True)
class Sizes:
    """Sizes of the files of a run, in MB, as its jobs are added in their order.

    Args:
        pairs: how many pairs corpora have, by name; of all languages that the corpus is used in.
        kept: share of a corpus's pairs that the selection keeps, by name.
        unknown: corpora of which nobody knows how large they are, as they are found.
        assumed: other data sets of unknown size.
    """

    run: Run
    pairs: Mapping[str, int] = field(default_factory=dict)
    kept: Mapping[str, float] = field(default_factory=dict)
    unknown: set[str] = field(default_factory=set)
    assumed: set[str] = field(default_factory=set)
    _known: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in (*self.pairs, *self.kept):
            if name not in self.run.datasets or self.run.datasets[name].kind not in CORPUS_KINDS:
                raise InputError(f"{name!r} is no corpus of the configuration")

    def megabytes(self, paths: str | Iterable[str]) -> float:
        """MB of one or many files that are there, or that a job that was added makes."""
        paths = [paths] if isinstance(paths, str) else paths
        return sum(self._known[path] if path in self._known else megabytes_on_disk(path) for path in paths)

    def add(self, job: Job) -> tuple[float, float]:
        """Find the sizes of a job's outputs: MB in all, and MB that it has on the disk only while it runs."""
        # Data come first; what is beside them is small.
        data = job.outputs[: self.run.config["filter_study"]["parts"] if job.step == "rank_pairs" else 1]
        written = dict.fromkeys(job.outputs, 0.0) | dict.fromkeys(data, self._data(job))
        self._known |= written
        merged = self.megabytes(job.inputs) * estimate.MERGED if job.step == "merge_pairs" else 0.0
        return sum(written.values()), merged * estimate.MERGING_BYTES / estimate.MERGED_BYTES

    def _data(self, job: Job) -> float:
        config, wildcards = self.run.config, job.wildcards
        of_model = config["definitions"].get(wildcards.get("model"))
        if job.step == "download_file":
            return self._download(job.outputs[0])
        if job.step == "extract_corpus":
            return self._extracted(wildcards["corpus"], job.inputs)
        if job.step == "merge_pairs":
            return self._merged(of_model, job.inputs)
        if job.step == "train_vocabulary":
            return _vocabulary_mb(of_model)
        if job.step in _WITH_WEIGHTS:
            return weights_mb(of_model) + _vocabulary_mb(of_model)
        if job.step in _SHARDED:
            return self.megabytes(job.inputs[0]) / config["shards"] * _RATES[job.step]
        if job.step in ("encode_dataset", "encode_part"):
            return _encoded_rate(of_model) * self.megabytes(job.inputs[0])
        if job.step not in _DEPENDENT:
            return _WRITTEN.get(job.step, _WRITTEN_ELSE)
        read = self.megabytes(job.inputs)
        if job.step == "select_pairs":
            return read * estimate.SELECTED * self.kept.get(wildcards["corpus"], KEPT)
        if job.step == "rank_pairs":
            study = config["filter_study"]
            return min(study["sample"] * estimate.MERGED_BYTES / 1e6, read * estimate.MERGED / study["parts"])
        if job.step == "describe_corpus":
            return min(read, 2 * config["statistics"]["sentences"] * _SENTENCE_BYTES / 1e6)
        return read * _RATES[job.step]

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
            _, place = source_of(address, self.run.config["mirror"])
            if isinstance(place, Path) and place.is_file():
                return megabytes_on_disk(str(place))
        listed = self.run.opus.get(file.location)
        size = file.size or (estimate.archive_bytes(listed) if listed else None)
        return size / 1e6 if size else None

    def _extracted(self, corpus: str, inputs: Sequence[str]) -> float:
        if corpus in self.pairs:
            return self.pairs[corpus] * estimate.ARCHIVE_BYTES * estimate.EXTRACTED / 1e6
        dataset = self.run.datasets[corpus]
        if dataset.kind in _SAMPLED:
            for file in dataset.files:
                # Only the size is known of a file that is still to be downloaded.
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

    def _merged(self, definition: Mapping[str, Any], inputs: Sequence[str]) -> float:
        total = 0.0
        # The selected pairs of each corpus stand before what is said of their contamination.
        for corpus, path in zip(definition["corpora"], inputs, strict=False):
            most = definition["max_pairs"].get(corpus)
            size = self.megabytes(path) * estimate.MERGED
            total += size if most is None else min(size, most * estimate.MERGED_BYTES / 1e6)
        return total


def _encoded_rate(definition: Mapping[str, Any]) -> float:
    """MB of training data for each MB of merged pairs, which each unit has its own of."""
    vocabulary = definition["vocabulary"]
    units = {unit for unit, _ in vocabularies(definition).values()}
    return len(units) * estimate.ENCODED * (_ENCODED_PIECES / vocabulary["size"]) ** _ENCODED_POWER


def _vocabulary_mb(definition: Mapping[str, Any]) -> float:
    return float(0.24 + 17e-6 * definition["vocabulary"]["size"])


class _Ignored(UnreadableRows):
    """Rows that cannot be read, such as the one at which the beginning ends."""

    def __init__(self) -> None:
        super().__init__(bound=0)

    def add(self, label: str, line: int, cause: str) -> None:
        """Leave it to the extraction."""


def extracted_mb(kind: str, path: str | Path, file: RemoteFile) -> float | None:
    """MB of the pairs in a file of one of the sampled kinds; None where its beginning has none to be read."""
    path = Path(path)
    sides = file.languages[0], file.languages[-1]
    written, rows = 0.0, 0
    with suppress(InputError):
        if kind == "parquet":
            with open_parquet(path) as opened:
                total = opened.metadata.num_rows
            written, rows = _written(parquet_rows(path, sides, file.members, _Ignored()), _PARQUET_ROWS)
            return written * max(1.0, total / rows) / 1e6 if rows else None
        content, share = _beginning(path)
        written, rows = _written(_rows(kind, BytesIO(content), str(path), sides, file.members))
        return written / share / 1e6 if rows else None
    return None


def _rows(kind: str, stream: BytesIO, label: str, sides: tuple[str, str], columns: tuple[str, ...]) -> Rows:
    if kind == "tsv":
        return tsv_rows(stream, label, columns, _Ignored())
    if kind == "jsonl":
        return jsonl_rows(stream, label, sides, columns, _Ignored())
    return Rows(tmx_rows(stream, label, sides, _Ignored()))


def _beginning(path: Path) -> tuple[bytes, float]:
    """The first content of a file, which may be compressed, and the share that it is of all."""
    with tempfile.NamedTemporaryFile() as head:
        with path.open("rb") as file:
            head.write(file.read(_HEAD_BYTES))
        head.flush()
        content = bytearray()
        # Compressed data that are cut off end with an error.
        with suppress(InputError), open_stream(head.name, max_bytes=_MAX_BYTES) as stream:
            while piece := stream.read(_PIECE_BYTES):
                content += piece
        return bytes(content), min(1.0, _HEAD_BYTES / max(1, path.stat().st_size))


def _written(rows: Rows, most: int | None = None) -> tuple[int, int]:
    """Bytes of rows, as the extraction writes them, and how many they are."""
    found: list[tuple[Any, ...]] = []
    # XML that is cut off ends with an error.
    with suppress(InputError):
        found.extend(islice(rows.rows, most))
    columns = [
        pa.array(column, pa.float32() if place > 2 else None)
        for place, column in enumerate(zip(*found, strict=True))
    ]
    buffer = pa.BufferOutputStream()
    table = pa.table(columns, [str(place) for place in range(len(columns))])
    pq.write_table(table, buffer, compression="zstd", use_dictionary=False)
    return buffer.getvalue().size, len(found)
