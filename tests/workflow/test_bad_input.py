"""Test that bad input ends in one clear line that names file and cause, and that nothing counts as done."""

import gzip
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from pipelines import ROOT, snakemake

CONFIG = """
registry: registry.tsv
models: [xx]
definitions:
  xx: {languages: [en, xx], corpora: [mine]}
language_id: null
selection:
  bitext: {language: null}
vocabulary: {size: 300}
training: {dimension: 16, epochs: 1}
sweep: {dropout: [0.0], megabatch: [4]}
evaluation: {sts: sts}
"""
REGISTRY = """\
name	version	kind	languages	file	addresses	sha256	size	members	licence	commercial
mine	1	{kind}	{languages}	{file}	file:mine/{file}	{sha256}	-	{members}	own	yes
{more}sts	1	file	-	STS.zip	file:data/sample/STS.zip	-	-	-	own	yes
"""
ENGLISH = [f"this is the sentence with number {i}" for i in range(500)]
FOREIGN = [f"dette er setningen med nummer {i}" for i in range(500)]

Prepare = Callable[..., None]


@pytest.fixture
def prepare(pipeline: Path) -> Prepare:
    """Return a function that sets up a registry with one corpus, whose files the test writes into `mine/`."""
    (pipeline / "mine").mkdir()
    (pipeline / "config.yaml").write_text(CONFIG)

    def register(
        kind: str, file: str, *, languages: str, members: str = "-", sha256: str = "-", more: str = ""
    ) -> None:
        text = REGISTRY.format(
            kind=kind, file=file, languages=languages, members=members, sha256=sha256, more=more
        )
        (pipeline / "registry.tsv").write_text(text)

    return register


def write_zip(path: Path, english: list[str], foreign: list[str]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("c.en-xx.en", "".join(f"{line}\n" for line in english))
        archive.writestr(
            "c.en-xx.xx", "".join(f"{line}\n" for line in foreign).encode("utf-8", "surrogateescape")
        )


def fails(pipeline: Path, target: str, message: str) -> None:
    """Assert that the run ends with `message` on its own line, without a Python traceback or the target."""
    run = snakemake(pipeline, "--configfile", "config.yaml", "--", target)
    assert run.returncode != 0
    (line,) = {line for line in run.stdout.splitlines() if line.startswith("error in ") or "config: " in line}
    assert message in line
    assert "Traceback" not in run.stdout
    assert not (pipeline / target).exists()


def opus(prepare: Prepare, sha256: str = "-") -> None:
    prepare("opus", "en-xx.txt.zip", languages="en-xx", members="c.en-xx.en c.en-xx.xx", sha256=sha256)


PAIRS = "results/pairs/mine/en-xx.parquet"


@pytest.mark.parametrize(
    ("foreign", "kept", "sha256", "message"),
    [
        (FOREIGN, 1000, "-", "en-xx.txt.zip: damaged"),
        (FOREIGN, None, "0" * 64, "download_file: resources/downloads/mine/en-xx.txt.zip: "),
        (FOREIGN, 0, "-", "download_file: resources/downloads/mine/en-xx.txt.zip: "),
        (FOREIGN[:-3], None, "-", "500"),
    ],
    ids=["truncated", "wrong checksum", "missing", "unequal"],
)
def test_archives_that_cannot_be_used(
    pipeline: Path, prepare: Prepare, foreign: list[str], kept: int | None, sha256: str, message: str
) -> None:
    opus(prepare, sha256=sha256)
    path = pipeline / "mine/en-xx.txt.zip"
    write_zip(path, ENGLISH, foreign)
    path.write_bytes(path.read_bytes()[:kept])
    if kept == 0:
        path.unlink()
    fails(pipeline, PAIRS, message)


def test_bytes_that_are_not_utf8(pipeline: Path, prepare: Prepare) -> None:
    opus(prepare)
    write_zip(pipeline / "mine/en-xx.txt.zip", ENGLISH, [*FOREIGN[:41], "\udcff", *FOREIGN[42:]])
    run = snakemake(pipeline, "--configfile", "config.yaml", "--", PAIRS)
    assert run.returncode == 0, run.stdout
    log = (pipeline / "results/logs/extract_corpus/mine/en-xx.log").read_text()
    assert "c.en-xx.xx:42: not UTF-8: byte 0xff" in log
    (pipeline / "config.yaml").write_text(CONFIG + "extraction: {max_unreadable: 0.001}\n")
    fails(pipeline, PAIRS, "en-xx.txt.zip: c.en-xx.xx:42: not UTF-8: byte 0xff (1 of 500 rows")


def test_a_path_to_no_file(pipeline: Path, prepare: Prepare) -> None:
    opus(prepare)
    entry = "{path: mine/gone.tsv}"
    (pipeline / "config.yaml").write_text(CONFIG.replace("[mine]", f"[{entry}]"))
    fails(pipeline, PAIRS, "config: definitions.xx.corpora.0.path: ")


def test_an_empty_corpus(pipeline: Path, prepare: Prepare) -> None:
    prepare(
        "aligned",
        "a.en.gz",
        languages="en",
        more="mine\t1\taligned\txx\ta.xx.gz\tfile:mine/a.xx.gz\t-\t-\t-\town\tyes\n",
    )
    for code in ("en", "xx"):
        (pipeline / f"mine/a.{code}.gz").write_bytes(gzip.compress(b"", mtime=0))
    fails(pipeline, PAIRS, "resources/downloads/mine/a.xx.gz: the corpus is empty")


def test_a_corpus_emptied_by_the_filters(pipeline: Path, prepare: Prepare) -> None:
    opus(prepare)
    write_zip(pipeline / "mine/en-xx.txt.zip", ["much too long " * 40] * 20, FOREIGN[:20])
    fails(pipeline, "results/corpora/xx/pairs.parquet", "results/scored/mine/en-xx/1-of-1.parquet: ")


def test_an_sts_archive_with_a_missing_file(pipeline: Path, prepare: Prepare) -> None:
    opus(prepare)
    archive = pipeline / "data/sample/STS.zip"
    shutil.copy2(archive, pipeline / "whole.zip")
    with zipfile.ZipFile(pipeline / "whole.zip") as whole, zipfile.ZipFile(archive, "w") as less:
        for name in whole.namelist():
            if "STS14-en-test/STS.gs.images" not in name:
                less.writestr(name, whole.read(name))
    fails(
        pipeline,
        "results/testsets/sts.parquet",
        "error in prepare_sts: resources/downloads/sts/STS.zip: STS14-en-test/STS.gs.images.txt is missing",
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "models: [xx]",
            "models: [xx]\ntrainig: {}",
            "config: trainig: unknown key; did you mean 'training'?",
        ),
        ("epochs: 1", "epochs: many", "config: training.epochs: "),
        (
            "corpora: [mine]",
            "corpora: [yours]",
            "config: definitions.xx.corpora: 'yours' is not in the registry",
        ),
    ],
)
def test_a_bad_configuration_stops_before_anything_runs(
    pipeline: Path, prepare: Prepare, old: str, new: str, message: str
) -> None:
    opus(prepare)
    (pipeline / "config.yaml").write_text(CONFIG.replace(old, new))
    fails(pipeline, PAIRS, message)
    assert not (pipeline / "resources").exists()


def test_a_key_that_is_given_twice(pipeline: Path) -> None:
    (pipeline / "config.yaml").write_text(CONFIG + "training: {epochs: 2}\n")
    run = snakemake(pipeline, "--configfile", "config.yaml", "--", PAIRS)
    assert run.returncode != 0
    assert f"config.yaml:{len(CONFIG.splitlines()) + 1}: " in run.stdout


def test_the_small_corpus_of_these_tests_is_good(pipeline: Path, prepare: Prepare) -> None:
    opus(prepare)
    write_zip(pipeline / "mine/en-xx.txt.zip", ENGLISH, FOREIGN)
    targets = ("results/corpora/xx/pairs.parquet", "results/testsets/sts.parquet")
    run = snakemake(pipeline, "--configfile", "config.yaml", "--", *targets)
    assert run.returncode == 0, run.stdout


@pytest.mark.slow("trains and evaluates a model")
def test_a_model_of_the_small_corpus(pipeline: Path, prepare: Prepare) -> None:
    opus(prepare)
    write_zip(pipeline / "mine/en-xx.txt.zip", ENGLISH, FOREIGN)
    run = snakemake(pipeline, "--configfile", "config.yaml", "--", "results/models/xx/README.md")
    assert run.returncode == 0, run.stdout
    assert ROOT.name not in (pipeline / "results/models/xx/README.md").read_text().splitlines()[0]
