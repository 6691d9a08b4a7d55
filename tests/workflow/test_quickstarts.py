"""Test the quick starts by typing them exactly as they are, from the first command to the last."""

import gzip
import json
import os
import re
import shlex
import subprocess
import sys
import zipfile
from base64 import b64decode
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pipelines import ROOT, environment
from test_docs import blocks

from paraphrastic_pipeline.base.tables import read_csv
from paraphrastic_pipeline.report.outcome import summary

PAGES, README = ROOT / "docs/quickstart", ROOT / "README.md"
MIRROR = Path(os.environ.get("PARAPHRASTIC_MIRROR", ROOT.parent / "shared/mirror")).resolve()
needs_mirror = pytest.mark.skipif(not MIRROR.is_dir(), reason=f"no real data: {MIRROR} is not there")
# The commands of the quick starts are not installed under these names here, and the set-up is already done.
_SHELL = """\
set -euo pipefail
python3() {{ test "$*" = "-m venv .venv"; }}
pip() {{ test "$*" = "install ."; }}
make() {{ test "$*" = install || test "$*" = results; }}
source() {{
  test "$*" = ".venv/bin/activate"
  paraphrastic() {{ {python} -m paraphrastic.cli "$@"; }}
  snakemake() {{ {python} -m snakemake --nocolor "$@"; }}
}}
"""


def type_page(page: str, folder: Path, **replaced: str) -> str:
    """Type a page's commands in the folder of a pipeline, with some words replaced; return the output."""
    return type_commands("\n".join(blocks(PAGES / f"{page}.md", "sh")), folder, **replaced)


def type_commands(commands: str, folder: Path, **replaced: str) -> str:
    assert commands
    for old, new in replaced.items():
        assert old in commands
        commands = commands.replace(old, new)
    script = _SHELL.format(python=shlex.quote(sys.executable)) + commands
    run = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=environment() | {"PYTHONPATH": "src", "USER": "me"},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=1500,
        check=False,
    )
    assert run.returncode == 0, run.stdout
    return run.stdout


def test_readme(finished: Path, tmp_path: Path) -> None:
    # Another test plans the commands on real data.
    beginning = tmp_path / "README.md"
    beginning.write_text(README.read_text(encoding="utf-8").split("## Real data")[0])
    printed = type_commands("\n".join(blocks(beginning, "sh")), finished)
    assert (finished / "scores.tsv").read_text().endswith("Somebody is playing the guitar.\n")
    assert "train_model" in printed


def test_what_to_type_next(finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Type the commands at the end of a run as they stand."""
    monkeypatch.chdir(finished)
    lines = list(summary(["fr"]))
    commands = [line.strip() for line in lines[lines.index("What to type next:") + 1 :]]
    assert {line.split("paraphrastic ")[1].split()[0] for line in commands} == {
        "score", "embed", "search", "demo", "export"
    }  # fmt: skip
    type_commands("\n".join(["source .venv/bin/activate", *commands]), finished)
    assert (finished / "demo.html").is_file()
    assert (finished / "exported/fr-int8/model.safetensors").is_file()


def test_i_only_want_vectors(finished: Path) -> None:
    type_page("embed", finished)
    (score, first, second) = (finished / "scores.tsv").read_text().rstrip("\n").split("\t")
    assert 0 < float(score) <= 1
    assert first.endswith("park.")
    assert second.endswith("outside.")
    assert (finished / "vectors.npy").stat().st_size > 128
    (python,) = blocks(PAGES / "embed.md", "python")
    code = f"{python}\nassert vectors.shape == (3, model.dim) and len(scores) == 1"
    subprocess.run([sys.executable, "-c", code], cwd=finished, env=environment(), check=True)


@pytest.mark.slow("exports a model in every form")
def test_an_application(finished: Path) -> None:
    type_page("application", finished)
    assert (finished / "exported/en-onnx/model.onnx").is_file()
    assert "int4" in (finished / "exported/en-small/README.md").read_text()
    assert (finished / "exported/en-float32/modules.json").is_file()


def test_a_server_answers_as_clients_of_openai_expect() -> None:
    pytest.importorskip("fastapi", reason="FastAPI is not installed: `make install-frameworks`")
    from fastapi.testclient import TestClient

    names: dict[str, Any] = {"__name__": "server"}
    exec(compile((ROOT / "docs/server.py").read_text(), "server.py", "exec"), names)
    client, model = TestClient(names["app"]), names["model"]
    for given, texts in (("A dog runs.", ["A dog runs."]), (["It rains.", ""], ["It rains.", ""])):
        answer = client.post("/v1/embeddings", json={"input": given, "model": "en"}).json()
        assert [row["index"] for row in answer["data"]] == list(range(len(texts)))
        vectors = np.array([row["embedding"] for row in answer["data"]], np.float32)
        np.testing.assert_array_equal(vectors, model.embed_raw_text(texts, normalize=True))
        assert answer["usage"]["total_tokens"] == sum(len(text.split()) for text in texts)
    request = {"input": "A dog runs.", "encoding_format": "base64", "dimensions": model.dim}
    (row,) = client.post("/v1/embeddings", json=request).json()["data"]
    vector = np.frombuffer(b64decode(row["embedding"]), np.float32)
    np.testing.assert_array_equal(vector, model.embed_raw_text(["A dog runs."], normalize=True)[0])
    assert client.post("/v1/embeddings", json={**request, "dimensions": 64}).status_code == 400
    assert client.post("/v1/embeddings", json={"input": 5}).status_code == 422
    assert client.post("/v1/embeddings", json={"input": "a\0b"}).status_code == 400


@pytest.mark.slow("types a page with many commands")
def test_a_table(finished: Path) -> None:
    printed = type_page("table", finished)
    assert "Directory cannot be locked" not in printed
    assert (finished / "results/tables/sts.md").is_file()


@pytest.mark.slow("plans for minutes")
def test_slurm(finished: Path) -> None:
    # There is no Slurm to submit to and no job to cancel.
    submit = "snakemake --profile profiles/slurm --configfile"
    printed = type_page(
        "slurm",
        finished,
        **{submit: "snakemake -n --profile profiles/slurm --configfile", "profiles/slurm/unlock.sh": "true"},
    )
    assert "train_model" in printed


def captions(count: int) -> dict[str, list[bytes]]:
    """Return captions of Multi30k; the German ones stand for a newcomer's own language."""
    folder = MIRROR / "raw.githubusercontent.com/multi30k/dataset/master/data/task1/raw"
    return {
        code: gzip.decompress((folder / f"train.{code}.gz").read_bytes()).splitlines()[:count]
        for code in ("de", "en")
    }


@pytest.mark.slow("trains on 41,098 pairs of real data")
@needs_mirror
def test_my_pairs(pipeline: Path) -> None:
    archive = MIRROR / "www.manythings.org/anki/tur-eng.zip"
    new = "--output tr.yaml"
    mirrored = {
        "curl -LO https://www.manythings.org/anki/tur-eng.zip": f"cp {archive} .",
        "python -m": f"{shlex.quote(sys.executable)} -m",
        new: f"{new}; echo 'mirror: {MIRROR}' >> tr.yaml",
    }
    printed = type_page("my-pairs", pipeline, **mirrored)
    assert "#     Hi. | Merhaba." in (pipeline / "tr.yaml").read_text()
    # The page's figures come out again; processors differ in the last digits, and so do the models.
    page = (PAGES / "my-pairs.md").read_text()
    ending = re.compile(
        r"tr finds the partners of ([\d.]+) % of ([\d,]+) held-out sentences \(95 % interval [\d.]+ to "
        r"[\d.]+\); before training, it found ([\d.]+) %\. Among ([\d,]+) more sentences, it "
        r"finds ([\d.]+) %\."
    )
    shown, real = (
        [float(figure.replace(",", "")) for figure in ending.search(text).groups()]
        for text in (page, printed)
    )
    assert real == pytest.approx(shown, rel=0.001, abs=1.5)
    assert "What to type next:" in printed
    found = [line.split("\t")[-1] for line in printed.splitlines() if "Yarın hava nasıl olacak?" in line]
    assert found[0] in page
    ours, others = re.findall(r"P-SP \S+: ([0-9.]+) % of the sentences find their partner", printed)
    assert float(ours) > 80 > 10 > float(others)
    assert (pipeline / "results/report.html").stat().st_size > 100_000


@pytest.mark.slow("trains on real data")
@needs_mirror
def test_a_language_of_opus(pipeline: Path) -> None:
    mirror = pipeline / "mirror"
    mirror.mkdir()
    host = "object.pouta.csc.fi"
    for folder in MIRROR.iterdir():
        if folder.name != host:
            (mirror / folder.name).symlink_to(folder)
    entries = []
    for corpus, count in (("QED", 1500), ("TED2020", 3000)):
        path = f"{host}/OPUS-{corpus}/v1/moses/de-en.txt.zip"
        (mirror / path).parent.mkdir(parents=True)
        with zipfile.ZipFile(mirror / path, "w") as archive:
            for code, lines in captions(count).items():
                archive.writestr(f"{corpus}.de-en.{code}", b"\n".join(lines) + b"\n")
        entry = {"corpus": corpus, "version": "v1", "url": f"https://{path}", "alignment_pairs": count}
        entries.append(entry | {"size": 50})
    answer = mirror / "opus.nlpl.eu/opusapi/?source=de&target=en&preprocessing=moses&version=latest"
    answer.parent.mkdir(parents=True)
    answer.write_text(json.dumps({"corpora": entries}))
    new = "--output pl.yaml"
    mirrored = {
        new: f"{new}; echo 'mirror: mirror' >> pl.yaml",
        "corpora --languages": "corpora --mirror mirror --languages",
        "en-pl": "en-de",
    }
    printed = type_page("opus", pipeline, **mirrored)
    assert "QED" in printed
    # The second corpus also contains all captions of the first.
    (row,) = read_csv(pipeline / "results/tables/funnel.csv")[1:]
    assert row["corpus"] == "TED2020"
    assert int(row["duplicates"]) > 1000
