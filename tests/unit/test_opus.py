"""Test OPUS corpora that are given by name: the list, the configuration and the command."""

import json
import re
from pathlib import Path

import pytest
from configurations import REGISTRY, changed, checked, configured

from paraphrastic.base.errors import InputError
from paraphrastic.cli import main
from paraphrastic_pipeline.registry.opus import OpusCorpus, fetch_list, read_list
from paraphrastic_pipeline.settings.datasets import datasets_of

QUERY = "?source=en&target=pl&preprocessing=moses&version=latest"


def entry(corpus: str, pairs: object, size: object, *, file: str = "en-pl.txt.zip", **fields: object) -> dict:
    """Return an entry in the form that the API gives."""
    url = f"https://object.pouta.csc.fi/OPUS-{corpus}/v1/moses/{file}"
    known = {"corpus": corpus, "version": "v1", "latest": "True", "preprocessing": "moses", "url": url}
    return known | {"alignment_pairs": pairs, "size": size} | fields


ENTRIES = [
    entry("EUbookshop", 500, 20, file="en-pl.strict.txt.zip"),
    entry("EUbookshop", 600, 40),
    entry("EUbookshop", 800, 60, file="en-pt.txt.zip"),
    entry("EUbookshop", 700, 50, latest="False"),
    entry("CCMatrix", 74_070_714, 5_000_000),
    entry("ELRC-5067-SciPar", "1000", ""),
    # Twice, the larger first, and with a size that OPUS has not measured.
    entry("OpenSubtitles", 9000, 1, file="en-pl_PL.txt.zip", latest=True),
    entry("OpenSubtitles", 8000, 30),
    entry("TED2020", "", 100),
    entry("Unsure", float("inf"), -5),
    entry("../../x", 1, 1),
]


@pytest.fixture
def answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A mirror with OPUS's answer in a folder to run in; the fixture is the path of the answer."""
    monkeypatch.chdir(tmp_path)
    answer = tmp_path / "mirror/opus.nlpl.eu/opusapi" / QUERY
    answer.parent.mkdir(parents=True)
    answer.write_text(json.dumps({"corpora": ENTRIES}))
    return answer


def fetched(*, refresh: bool = False) -> dict[str, OpusCorpus]:
    return fetch_list(("pl", "en"), mirror="mirror", refresh=refresh)


def test_the_list_is_kept_and_largest_first(answers: Path) -> None:
    assert read_list(("en", "pl")) is None
    corpora = fetched()
    assert {name: (corpus.pairs, corpus.size) for name, corpus in corpora.items()} == {
        "CCMatrix": (74_070_714, 5_000_000 * 1024), "OpenSubtitles": (9000, None),
        "ELRC-5067-SciPar": (1000, None), "EUbookshop": (600, 40 * 1024), "TED2020": (None, 100 * 1024),
        "Unsure": (None, None),
    }  # fmt: skip
    assert list(corpora)[:4] == ["CCMatrix", "OpenSubtitles", "ELRC-5067-SciPar", "EUbookshop"]
    assert corpora["CCMatrix"].version == "v1"
    assert corpora["CCMatrix"].address == "https://object.pouta.csc.fi/OPUS-CCMatrix/v1/moses/en-pl.txt.zip"
    members = ("en-pl_PL.en", "en-pl_PL.pl_PL", "pl_PL-en.en", "pl_PL-en.pl_PL")
    assert corpora["OpenSubtitles"].file().members == tuple(f"OpenSubtitles.{name}" for name in members)
    assert list(Path("resources/opus").iterdir()) == [Path("resources/opus/en-pl.json")]
    answers.unlink()
    assert fetched() == read_list(("pl", "en")) == corpora


def test_a_list_is_fetched_again_when_asked(answers: Path) -> None:
    fetched()
    answers.write_text(json.dumps({"corpora": [entry("CCMatrix", 1, 1, version="v2")]}))
    assert fetched()["CCMatrix"].version == "v1"
    assert fetched(refresh=True)["CCMatrix"].version == "v2"


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        ("<html>busy</html>", "not readable as JSON"),
        ('{"corpora": [7]}', "not a list"),
        ('{"corpora": [{"corpus": "A", "version": "v1"}]}', "not a list"),
        (json.dumps({"corpora": [entry("A", 1, 1, url="file:///etc/moses/en-pl.txt.zip")]}), "no corpus"),
        ('{"corpora": []}', "OPUS has no corpus in en-pl"),
    ],
)
def test_an_answer_that_cannot_be_used_is_one_line_and_not_kept(answers: Path, answer, cause) -> None:
    answers.write_text(answer)
    with pytest.raises(InputError, match=f"^.*{cause}.*$"):
        fetched()
    assert read_list(("en", "pl")) is None


def polish(*corpora: str) -> dict:
    return changed("definitions.fr", {"languages": ["en", "pl"], "corpora": list(corpora)})


def test_a_listed_name_is_a_data_set(answers: Path) -> None:
    fetched()
    datasets = datasets_of(configured(polish("CCMatrix", "ELRC-5067-SciPar")), REGISTRY)
    assert datasets.keys() - REGISTRY.keys() == {"CCMatrix", "ELRC-5067-SciPar"}
    (file,) = datasets["CCMatrix"].select(("pl", "en"))
    assert file.location == "resources/downloads/CCMatrix/en-pl.txt.zip"
    assert file.addresses == ("https://object.pouta.csc.fi/OPUS-CCMatrix/v1/moses/en-pl.txt.zip",)
    names = ("CCMatrix.en-pl", "CCMatrix.pl-en")
    assert file.members == tuple(f"{name}.{code}" for name in names for code in file.languages)


def faults(config: dict) -> list[str]:
    with pytest.raises(InputError) as error:
        checked(config)
    return str(error.value).split("\n")


def test_a_name_of_opus_before_its_list_is_there_says_the_command(answers: Path) -> None:
    (line,) = faults(polish("CCMatrix") | {"mirror": "mirror"})
    assert line.startswith("config: definitions.fr.corpora: 'CCMatrix' ")
    command = line.partition("paraphrastic ")[2].split()
    assert command == ["corpora", "--languages", "en-pl", "--mirror", "mirror"]
    assert main(command) == 0
    checked(polish("CCMatrix"))


def test_a_name_that_opus_does_not_have(answers: Path) -> None:
    answers.write_text(json.dumps({"corpora": [*ENTRIES, entry("Tanzil", 5, 5)]}))
    fetched()
    for name, hint in (("CCMatrx", "CCMatrix"), ("tanzil", "Tanzil")):
        (line,) = faults(polish(name))
        assert f"{hint!r}" in line
    # Paraphrases are not looked for in OPUS.
    (line,) = faults(changed("definitions.en.corpora", ["CCMatrix"]))
    assert "'ccmatrix'" in line


def test_the_command_lists_corpora(answers: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["corpora", "--languages", "pl-en", "--mirror", "mirror"]) == 0
    header, *rows = [re.split("  +", line) for line in capsys.readouterr().out.splitlines()]
    assert header == ["corpus", "version", "pairs", "MB", "licence"]
    assert rows[0][:3] == ["CCMatrix", "v1", "74,070,714"]
    assert ["TED2020", "v1", "?", "0.1", "-"] in rows


@pytest.mark.parametrize(
    ("arguments", "cause"),
    [(["--mirror", "nowhere"], "'nowhere'")],
)
def test_faults_of_the_command_are_one_line(answers: Path, capsys, arguments, cause) -> None:
    assert main(["corpora", "--languages", "en-pl", *arguments]) == 1
    shown = capsys.readouterr()
    assert (shown.out, shown.err.count("\n")) == ("", 1)
    assert cause in shown.err


@pytest.mark.parametrize("pair", ["en", "en-en", "en-pl-de", "EN-pl", "en-../x"])
def test_a_wrong_pair(answers: Path, capsys: pytest.CaptureFixture[str], pair: str) -> None:
    with pytest.raises(SystemExit):
        main(["corpora", "--languages", pair])
    assert f"{pair!r} is not " in capsys.readouterr().err
