"""Test that bad input ends in one clear line that names file and cause, and that nothing counts as done."""

import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from pipelines import snakemake

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
mine	1	opus	en-xx	en-xx.txt.zip	file:mine/en-xx.txt.zip	{sha256}	-	c.en c.xx	own	yes
sts	1	file	-	STS.zip	file:data/sample/STS.zip	-	-	-	own	yes
"""
ENGLISH = [f"this is the sentence with number {i}" for i in range(500)]
FOREIGN = [f"dette er setningen med nummer {i}" for i in range(500)]

Opus = Callable[..., None]


@pytest.fixture
def opus(pipeline: Path) -> Opus:
    """Return a function that sets up a registry with one corpus, whose archive lies in `mine/`."""
    (pipeline / "mine").mkdir()
    (pipeline / "config.yaml").write_text(CONFIG)

    def register(sha256: str = "-") -> None:
        (pipeline / "registry.tsv").write_text(REGISTRY.format(sha256=sha256))

    return register


def write_zip(path: Path, english: list[str], foreign: list[str]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("c.en", "".join(f"{line}\n" for line in english))
        archive.writestr("c.xx", "".join(f"{line}\n" for line in foreign).encode("utf-8", "surrogateescape"))


def fails(pipeline: Path, target: str, message: str) -> None:
    """Assert that the run ends with `message` on its own line, without a Python traceback or the target."""
    run = snakemake(pipeline, "--configfile", "config.yaml", "--", target)
    assert run.returncode != 0
    (line,) = {line for line in run.stdout.splitlines() if line.startswith("error in ") or "config: " in line}
    assert message in line
    assert "Traceback" not in run.stdout
    assert not (pipeline / target).exists()


PAIRS = "results/pairs/mine/en-xx.parquet"
MERGED = "results/corpora/xx/pairs.parquet"
LONG = ["much too long " * 40] * 20
FETCHED = "error in download_file: resources/downloads/mine/en-xx.txt.zip: could not be fetched: "


@pytest.mark.slow("runs on damaged data")
@pytest.mark.parametrize(
    ("english", "foreign", "more", "target", "message"),
    [
        (ENGLISH, FOREIGN, {"kept": 1000}, PAIRS, "en-xx.txt.zip: damaged: "),
        (ENGLISH, FOREIGN, {"sha256": "0" * 64}, PAIRS, FETCHED),
        (LONG, FOREIGN[:20], {}, MERGED, "results/scored/mine/en-xx/1-of-1.parquet: "),
    ],
)
def test_a_corpus_that_cannot_be_used(pipeline: Path, opus: Opus, english, foreign, more, target, message):
    opus(more.get("sha256", "-"))
    path = pipeline / "mine/en-xx.txt.zip"
    write_zip(path, english, foreign)
    path.write_bytes(path.read_bytes()[: more.get("kept")])
    fails(pipeline, target, message)


@pytest.mark.slow("runs on damaged data")
def test_bytes_that_are_not_utf8(pipeline: Path, opus: Opus) -> None:
    opus()
    write_zip(pipeline / "mine/en-xx.txt.zip", ENGLISH, [*FOREIGN[:41], "\udcff", *FOREIGN[42:]])
    run = snakemake(pipeline, "--configfile", "config.yaml", "--", PAIRS)
    assert run.returncode == 0, run.stdout
    log = (pipeline / "results/logs/extract_corpus/mine/en-xx.log").read_text()
    assert "c.xx:42: not UTF-8: byte 0xff" in log
    (pipeline / "config.yaml").write_text(CONFIG + "extraction: {max_unreadable: {mine: 0.001}}\n")
    fails(pipeline, PAIRS, "en-xx.txt.zip: c.xx:42: not UTF-8: byte 0xff (1 of 500 rows")


@pytest.mark.slow("runs on damaged data")
def test_an_sts_archive_with_a_missing_file(pipeline: Path, opus: Opus) -> None:
    opus()
    archive = pipeline / "data/sample/STS.zip"
    shutil.copy2(archive, pipeline / "whole.zip")
    with zipfile.ZipFile(pipeline / "whole.zip") as whole, zipfile.ZipFile(archive, "w") as less:
        for name in whole.namelist():
            if "STS14-en-test/STS.gs.images" not in name:
                less.writestr(name, whole.read(name))
    message = "error in prepare_testsets: resources/downloads/sts/STS.zip: STS14-en-test/STS.gs.images.txt"
    fails(pipeline, "results/testsets/sts.parquet", message)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("models: [xx]", "models: [xx]\ntrainig: {}", "config: trainig: "),
        ("epochs: 1", "epochs: many", "config: training.epochs: "),
        ("[mine]", "[yours]", "config: definitions.xx.corpora: 'yours' "),
        ("[mine]", "[{path: mine/gone.tsv}]", "config: definitions.xx.corpora.0.path: "),
        ("models: [xx]", "models: [xx]\nmodels: [xx]", "config.yaml:4: "),
    ],
)
def test_a_bad_configuration_stops_before_anything_runs(
    pipeline: Path, opus: Opus, old: str, new: str, message: str
) -> None:
    opus()
    (pipeline / "config.yaml").write_text(CONFIG.replace(old, new))
    run = snakemake(pipeline, "--configfile", "config.yaml", "--", PAIRS)
    assert run.returncode != 0
    assert message in run.stdout
    assert "Traceback" not in run.stdout
    assert not (pipeline / "resources").exists()
