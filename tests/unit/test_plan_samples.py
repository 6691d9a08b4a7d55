"""Test how well the size of a file's extracted pairs is estimated before the extraction."""

import bz2
import gzip
import json
import random
from collections.abc import Callable
from functools import partial
from itertools import accumulate
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from extraction import tmx, variant
from test_plan import job, run_of, sizes_of

from paraphrastic_pipeline.corpus.readers import CorpusFile, extract_corpus
from paraphrastic_pipeline.registry.datasets import Dataset, RemoteFile
from paraphrastic_pipeline.workflow.sizes import PlannedRun, first_rows

Pairs = list[tuple[str, str]]


@pytest.fixture(autouse=True)
def _small_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("_HEAD_BYTES", 1 << 18), ("_PIECE_BYTES", 1 << 14), ("_PARQUET_ROWS", 2500)):
        monkeypatch.setattr(f"paraphrastic_pipeline.workflow.sizes.{name}", value)


@pytest.fixture(scope="module")
def pairs() -> Pairs:
    """Return sentences with word frequencies as in a language, and more of them than are sampled."""
    draw = random.Random(1)
    words = ["".join(draw.choices("etaoinshrdlu", k=draw.randint(2, 9))) for _ in range(5000)]
    weights = list(accumulate(1 / rank for rank in range(1, len(words) + 1)))

    def sentence() -> str:
        return " ".join(draw.choices(words, cum_weights=weights, k=draw.randint(4, 20)))

    return [(sentence(), sentence()) for _ in range(5000)]


@pytest.fixture(scope="module")
def written_mb(pairs: Pairs, tmp_path_factory: pytest.TempPathFactory) -> float:
    folder = tmp_path_factory.mktemp("extracted")
    (folder / "mine.tsv").write_text("".join(f"{one}\t{other}\n" for one, other in pairs))
    file = CorpusFile(folder / "mine.tsv", ("en", "de"))
    extract_corpus("tsv", [file], ("en", "de"), folder / "pairs.parquet")
    return (folder / "pairs.parquet").stat().st_size / 1e6


def metadata(number: int) -> str:
    return f"https://host-{number % 97}.example/pages/{number * 7919 % 100_003}.html#" + "section-" * 40


def write_tsv(path: Path, pairs: Pairs, more: bool) -> tuple[str, ...]:
    rows = [
        f"{one}\t{other}\t{metadata(number)}" if more else f"{one}\t{other}"
        for number, (one, other) in enumerate(pairs)
    ]
    path.write_text("\n".join(rows) + "\n")
    return ("1", "2")


def write_jsonl(path: Path, pairs: Pairs, more: bool) -> tuple[str, ...]:
    with path.open("w") as file:
        for number, (one, other) in enumerate(pairs):
            extra = {"meta": {"url": metadata(number), "ids": list(range(30))}} if more else {}
            file.write(json.dumps({"translation": {"en": one, "de": other}, **extra}) + "\n")
    return ()


def write_parquet(path: Path, pairs: Pairs, more: bool) -> tuple[str, ...]:
    sources, targets = zip(*pairs, strict=True)
    extra = {"url": list(map(metadata, range(len(pairs))))} if more else {}
    pq.write_table(pa.table({"en": sources, "de": targets, **extra}), path)
    return ()


def write_tmx(path: Path, pairs: Pairs, more: bool) -> tuple[str, ...]:
    units = (
        (f'<prop type="url">{metadata(number)}</prop>' if more else "")
        + variant("en", one)
        + variant("de", other)
        for number, (one, other) in enumerate(pairs)
    )
    path.write_text(tmx(*units))
    return ()


WRITERS = {"tsv": write_tsv, "jsonl": write_jsonl, "parquet": write_parquet, "tmx": write_tmx}


@pytest.mark.parametrize("more", [False, True])
@pytest.mark.parametrize(
    ("kind", "ending", "compress"),
    [
        *((kind, "", None) for kind in WRITERS),
        *((kind, ".gz", gzip.compress) for kind in ("tsv", "jsonl", "tmx")),
        # Its blocks have 100 kB.
        ("tsv", ".bz2", partial(bz2.compress, compresslevel=1)),
    ],
)
def test_a_corpus_of_ones_own_is_as_large_as_its_text(
    pairs: Pairs,
    written_mb: float,
    tmp_path: Path,
    kind: str,
    ending: str,
    compress: Callable[[bytes], bytes] | None,
    more: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if compress:
        monkeypatch.setattr("paraphrastic_pipeline.workflow.sizes._HEAD_BYTES", 1 << 17)
    path = tmp_path / f"mine.{kind}{ending}"
    columns = WRITERS[kind](path, pairs, more)
    if compress:
        path.write_bytes(compress(path.read_bytes()))
    file = RemoteFile("mine", path.name, ("en", "de"), (), members=columns, path=str(path))
    steps = [job("extract_corpus", (str(path),), ("pairs",), wildcards={"corpus": "mine"})]
    run = PlannedRun(run_of([]).config, {"mine": Dataset("mine", "1", kind, "none", (file,))}, {}, steps)
    planned = sizes_of(run).megabytes("pairs")
    assert 1 / 1.25 < planned / written_mb < 1.25


def test_scores_and_rows_that_cannot_be_read_do_not_hinder(tmp_path: Path, pairs: Pairs) -> None:
    path = tmp_path / "mine.jsonl"
    rows = [{"source": one, "target": other, "score": 0.5} for one, other in pairs[:2000]]
    path.write_text("".join(f"{json.dumps(row)}\n{{\n" for row in rows))
    found, share = first_rows("jsonl", path, RemoteFile("mine", path.name, ("en",), (), path=str(path)))
    assert sum(1 for _ in found.rows) / share == pytest.approx(2000, rel=0.05)


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("content", [b"", b"\xff\xfe\0", b"one\n" * 9, b"{}\n"])
def test_a_file_without_pairs_at_its_beginning_has_no_first_rows(
    tmp_path: Path, kind: str, content: bytes
) -> None:
    path = tmp_path / "mine"
    path.write_bytes(content)
    rows, _ = first_rows(kind, path, RemoteFile("mine", "mine", ("en", "de"), (), path=str(path)))
    assert not list(rows.rows)
