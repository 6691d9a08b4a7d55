"""Test the models that come with the package."""

import json
import re
import shutil
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from paraphrastic import load_model
from paraphrastic.cli import main
from paraphrastic.model.folder import choose_folder, shipped_models

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = shipped_models()
opened = cache(lambda name: load_model(SHIPPED[name]))
NAMES = list(SHIPPED)
# Each pair of sentences that mean the same, and a third sentence that means something else.
TRIPLES = [
    ("A man plays the guitar.", "Somebody is playing the guitar.", "It is raining."),
    ("Two dogs run through the snow.", "Dogs are running in snow.", "A woman is cooking dinner."),
    ("A child sleeps on a couch.", "A kid is asleep on the sofa.", "The train leaves the station."),
]


# A sentence, its translation, and another sentence in the language of the translation.
TRANSLATIONS = [
    ("A dog runs in the snow.", "Ein Hund läuft im Schnee.", "Das Wetter ist heute schlecht."),
    ("I love this book.", "Me encanta este libro.", "El tren sale a las ocho."),
    ("The train is late.", "Le train est en retard.", "Elle mange une pomme."),
]


@pytest.mark.parametrize("name", NAMES)
def test_a_shipped_model_is_small_and_knows_what_means_the_same(name: str) -> None:
    folder = SHIPPED[name]
    assert sum(file.stat().st_size for file in folder.iterdir()) < 8_000_000
    assert "licence" in (folder / "README.md").read_text(encoding="utf-8")
    model = load_model(name)
    for first, second, other in TRIPLES + (TRANSLATIONS if name == "en-de-es-fr" else []):
        same, different = model.score_raw_text([(first, second), (first, other)])
        assert same > 0.5 > different + 0.2


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "sentences",
    [
        ("5 people died.", "9 people died."),
        ("Łukasz came.", "Őukasz came."),
        ("Hello 😀", "Hello 😢"),
        ("Hello 😀", "Hello"),
        ("Hello 𐍈", "Hello 𐍉"),
    ],
)
def test_numbers_rare_letters_and_emoji_change_the_vector(name: str, sentences: tuple[str, str]) -> None:
    (score,) = opened(name).score_raw_text([sentences])
    assert score < 0.9999


@pytest.mark.parametrize("name", NAMES)
def test_characters_of_the_same_bytes_are_not_told_apart(name: str) -> None:
    # These letters of dead languages are in no training text, and differ in the order of two bytes.
    assert sorted("𐌍".encode()) == sorted("𐍌".encode())
    assert opened(name).score_raw_text([("Hello 𐌍", "Hello 𐍌")]) == pytest.approx([1])


def test_mining_uses_the_model_of_four_languages_by_default(tmp_path: Path) -> None:
    (tmp_path / "en.txt").write_text("".join(f"{english}\n" for english, *_ in TRANSLATIONS))
    (tmp_path / "other.txt").write_text("".join(f"{other}\n" for _, other, _ in TRANSLATIONS[::-1]))
    files = {"--source": "en.txt", "--target": "other.txt", "--output": "mined.tsv"}
    assert (
        main(["mine", *(each for name, file in files.items() for each in (name, str(tmp_path / file)))]) == 0
    )
    rows = [line.split("\t") for line in (tmp_path / "mined.tsv").read_text().splitlines()]
    assert sorted(row[1:] for row in rows) == sorted([*pair] for *pair, _ in TRANSLATIONS)


@pytest.mark.parametrize(
    ("model", "kind"),
    [((), "nothing"), ((), "model"), *((("--model", "en"), kind) for kind in ("file", "folder", "model"))],
)
def test_commands_use_the_model_of_four_languages_by_default(
    model: tuple[str, ...], kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("A dog runs.\n")
    expected = opened("en" if model else "en-de-es-fr").embed_raw_text(["A dog runs."])
    if kind == "file":
        Path("en").touch()
    elif kind == "folder":
        Path("en").mkdir()
    elif kind == "model":
        shutil.copytree(SHIPPED["en-de-es-fr"], "en")
        if model:
            expected = opened("en-de-es-fr").embed_raw_text(["A dog runs."])
    assert main(["embed", *model, "--input", "a.txt", "--output", "a.npy"]) == 0
    np.testing.assert_allclose(np.load("a.npy"), expected, rtol=1e-6)


def test_named_languages_choose_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pair = ("Es regnet heute.", "It rains today.")
    Path("de.txt").write_text(f"{pair[0]}\n")
    Path("pairs.tsv").write_text("\t".join(pair) + "\n")
    files = ["--input", "pairs.tsv", "--output", "scores.tsv"]
    assert main(["score", *files, "--languages", "de-en"]) == 0
    (expected,) = opened("en-de-es-fr").score_raw_text([pair])
    assert float(Path("scores.tsv").read_text().split("\t")[0]) == pytest.approx(expected, abs=1e-5)
    assert main(["embed", "--input", "de.txt", "--output", "de.npy", "--language", "de"]) == 0
    search = ["--index", "de.npy", "--input", "de.txt", "--output", "found.tsv"]
    assert main(["search", *search, "--language", "de"]) == 0
    assert Path("found.tsv").read_text() == "1.000000\t1\t1\t1\n"


@pytest.mark.parametrize(
    ("command", "languages", "named"),
    [
        ("embed", ["--language", "pl"], "pl"), ("dedup", ["--language", "pl"], "pl"),
        ("score", ["--languages", "pl-en"], "pl"), ("embed", ["--model", "en", "--language", "de"], "de"),
    ],
)  # fmt: skip
def test_a_language_that_no_model_knows_is_refused(
    command: str, languages: list[str], named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    Path("a.tsv").write_text("a\tb\n")
    assert main([command, *languages, "--input", "a.tsv", "--output", "out"]) == 1
    error = capsys.readouterr().err
    assert named in error
    # It says which languages there are.
    assert "en" in error
    assert not Path("out").exists()


def test_models_that_list_no_languages_may_know_any(tmp_path: Path) -> None:
    folder = shutil.copytree(SHIPPED["en"], tmp_path / "mine")
    config = json.loads((folder / "config.json").read_text())
    for others in ({"languages": []}, {"encoder": "bert"}):
        (folder / "config.json").write_text(json.dumps({**config, **others}))
        assert choose_folder(str(folder), ["pl"]) == str(folder)
    assert choose_folder("a-name-on-the-hub", ["pl"]) == "a-name-on-the-hub"


def test_the_page_tells_of_a_failure_as_it_is() -> None:
    page = (ROOT / "docs/models.md").read_text(encoding="utf-8")
    found = re.search(
        r"\*([^*]+)\* is nearer to \*([^*]+)\* \(([\d.]+)\) than to \*([^*]+)\* \(([\d.]+)\)", page
    )
    assert found
    query, wrong, high, right, low = found.groups()
    scores = opened("en").score_raw_text([(query, wrong), (query, right)])
    assert [*scores] == pytest.approx([float(high), float(low)], abs=0.005)
