"""Test that the embedded sample can be made again bit by bit and that its README is true."""

import gzip
import re
import subprocess
import sys
import zipfile
from collections import Counter
from pathlib import Path

import pytest

SAMPLE = Path(__file__).resolve().parents[2] / "data" / "sample"
STS_YEARS = {12: 5, 13: 4, 14: 6, 15: 5, 16: 5}


def words_of(sentence: str) -> list[str]:
    return re.findall(r"\w+", sentence.lower())


def known_words() -> dict[str, set[str]]:
    """Return the words of each language in the test sentences, which contain no noise."""
    found: dict[str, set[str]] = {}
    for path in sorted(SAMPLE.glob("tatoeba/*")):
        found.setdefault(path.suffix[1:], set()).update(words_of(path.read_text(encoding="utf-8")))
    return found


KNOWN = known_words()


def text(archive: str, member: str) -> str:
    with zipfile.ZipFile(SAMPLE / archive) as opened:
        return opened.read(member).decode("utf-8")


def rows(content: str) -> list[list[str]]:
    return [line.split("\t") for line in content.removesuffix("\n").split("\n")]


def contents(folder: Path) -> dict[str, bytes]:
    """Return the content of every generated file in the folder; archives are unpacked."""
    found: dict[str, bytes] = {}
    made = [
        p for p in folder.rglob("*") if p.is_file() and (p.suffix in (".zip", ".gz") or "tatoeba" in p.parts)
    ]
    for path in [*made, folder / "noise.tsv"]:
        name = path.relative_to(folder).as_posix()
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                found |= {f"{name}/{info.filename}": archive.read(info) for info in archive.infolist()}
        else:
            found[name] = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return found


def read_corpora() -> dict[str, list[list[str]]]:
    sides = {
        "de-en.txt.zip": [
            text("de-en.txt.zip", f"Sample.de-en.{code}").splitlines() for code in ("en", "de")
        ],
        "aligned/train": [
            gzip.decompress((SAMPLE / f"aligned/train.{code}.gz").read_bytes()).decode("utf-8").splitlines()
            for code in ("en", "fr")
        ],
    }
    corpora = {name: [list(pair) for pair in zip(*both, strict=True)] for name, both in sides.items()}
    corpora["spa-eng.zip"] = rows(text("spa-eng.zip", "spa.txt"))
    corpora["para-nmt-sample.zip"] = rows(text("para-nmt-sample.zip", "para-nmt-sample/para-nmt-sample.txt"))
    return corpora


@pytest.fixture(scope="module")
def corpora() -> dict[str, list[list[str]]]:
    return read_corpora()


@pytest.fixture(scope="module")
def kinds() -> dict[str, dict[int, str]]:
    """Return the kind of each noisy line by file and line number."""
    header, *noise = rows((SAMPLE / "noise.tsv").read_text(encoding="utf-8"))
    assert header == ["file", "line", "kind"]
    found: dict[str, dict[int, str]] = {}
    for name, line, kind in noise:
        lines = found.setdefault(name, {})
        assert int(line) not in lines, f"{name}:{line} has two kinds"
        lines[int(line)] = kind
    return found


@pytest.fixture(scope="module")
def tests() -> dict[str, list[list[str]]]:
    """Return the pairs of every test as first sentence, second sentence and grade, which may be empty."""
    found: dict[str, list[list[str]]] = {}
    with zipfile.ZipFile(SAMPLE / "STS.zip") as archive:
        for name in archive.namelist():
            if ".input." not in name:
                continue
            pairs = rows(archive.read(name).decode("utf-8"))
            if "STS17" not in name:
                grades = (
                    archive.read(name.replace(".input.", ".gs."))
                    .decode("utf-8")
                    .removesuffix("\n")
                    .split("\n")
                )
                pairs = [[*pair, grade] for pair, grade in zip(pairs, grades, strict=True)]
            found[name] = pairs
    return found


def trigrams(sentence: str) -> set[tuple[str, ...]]:
    words = sentence.lower().split()
    return set(zip(words, words[1:], words[2:], strict=False))


def overlap(first: str, second: str) -> float:
    one, two = trigrams(first), trigrams(second)
    return len(one & two) / min(len(one), len(two)) if one and two else 0.0


def language_of(sentence: str) -> str:
    """Return the language that knows the most words of the sentence, or an empty string if there is a tie."""
    words = words_of(sentence)
    hits = sorted(
        ((sum(word in known for word in words), code) for code, known in KNOWN.items()), reverse=True
    )
    return hits[0][1] if hits[0][0] > hits[1][0] else ""


@pytest.mark.slow("makes the sample again")
def test_the_generator_makes_the_same_files_again(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-B", str(SAMPLE / "make.py"), str(tmp_path)], check=True, timeout=120)
    made, committed = contents(tmp_path), contents(SAMPLE)
    assert sorted(made) == sorted(committed)
    different = [name for name in made if made[name] != committed[name]]
    assert different == []


def test_the_archives_hold_nothing_of_the_day_they_were_made() -> None:
    for path in SAMPLE.glob("*.zip"):
        with zipfile.ZipFile(path) as archive:
            names = [info.filename for info in archive.infolist()]
            assert names == sorted(names)
            assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    for path in SAMPLE.glob("aligned/*.gz"):
        assert path.read_bytes()[4:8] == b"\0\0\0\0"


def test_the_sample_is_small() -> None:
    assert sum(path.stat().st_size for path in SAMPLE.rglob("*") if path.is_file()) < 6_000_000


def test_every_corpus_has_20_000_lines_of_its_format(corpora: dict[str, list[list[str]]]) -> None:
    assert {name: len(lines) for name, lines in corpora.items()} == dict.fromkeys(corpora, 20_000)
    columns = {name: Counter(len(line) for line in lines) for name, lines in corpora.items()}
    assert columns["para-nmt-sample.zip"] == {3: 20_000}
    assert set(columns["spa-eng.zip"]) == {2, 3}
    assert columns["spa-eng.zip"][3] > 18_000
    assert all(side.strip() == side != "" for lines in corpora.values() for line in lines for side in line)


def test_the_share_of_each_kind_of_noise(kinds: dict[str, dict[int, str]]) -> None:
    assert sorted(kinds) == ["aligned/train", "de-en.txt.zip", "para-nmt-sample.zip", "spa-eng.zip"]
    for name, lines in kinds.items():
        counts = Counter(lines.values())
        if name == "para-nmt-sample.zip":
            assert set(counts) == {"wrong_language", "near_copy", "mismatch", "short", "duplicate"}
            assert all(400 <= count <= 800 for count in counts.values())
        else:
            assert set(counts) == {"wrong_language", "copy", "mismatch", "short", "long", "duplicate"}
            assert counts.pop("duplicate") == 400
            assert sum(counts.values()) == 600


def test_the_manifest_is_true_of_bitext(
    corpora: dict[str, list[list[str]]], kinds: dict[str, dict[int, str]]
) -> None:
    targets = {"de-en.txt.zip": "deu", "spa-eng.zip": "spa", "aligned/train": "fra"}
    for name, target in targets.items():
        clean: set[tuple[str, str]] = set()
        recognised = Counter[bool]()
        for number, (english, other, *_) in enumerate(corpora[name], 1):
            kind = kinds[name].get(number, "")
            where = f"{name}:{number}: {kind}: {english} | {other}"
            sizes = sorted((len(english.split()), len(other.split())))
            assert (sizes[1] <= 2) == (kind == "short"), where
            assert (sizes[0] > 100) == (sizes[1] > 100) == (kind == "long"), where
            assert (english == other) == (kind == "copy"), where
            assert ((english, other) in clean) == (kind == "duplicate"), where
            if kind not in ("short", "copy"):
                assert sizes[0] >= 3, where
                assert (language_of(other) not in (target, "")) == (kind == "wrong_language"), where
                recognised[language_of(other) == target] += 1
            if kind != "duplicate":
                clean.add((english, other))
        assert recognised[True] > 0.95 * recognised.total(), name


def test_a_mismatch_has_another_length_or_names(
    corpora: dict[str, list[list[str]]], kinds: dict[str, dict[int, str]]
) -> None:
    """Proper names are the same in all languages, so mismatched sides seldom agree in names and length."""
    names = {
        "Anna",
        "Laura",
        "Emma",
        "Tom",
        "David",
        "Martin",
        "Daniel",
        "Berlin",
        "Paris",
        "Madrid",
        "Boston",
    }

    def agreement(kind: str) -> float:
        agreed = []
        for file in ("de-en.txt.zip", "aligned/train"):
            for number, (english, other, *_) in enumerate(corpora[file], 1):
                if kinds[file].get(number, "") == kind:
                    one, two = (set(side.strip(".?").split()) & names for side in (english, other))
                    agreed += [one == two] if one else []
        return sum(agreed) / len(agreed)

    assert agreement("") > 0.9
    assert agreement("mismatch") < 0.2


def test_the_manifest_is_true_of_paraphrases(
    corpora: dict[str, list[list[str]]], kinds: dict[str, dict[int, str]]
) -> None:
    name = "para-nmt-sample.zip"
    clean: set[tuple[str, str, str]] = set()
    for number, (reference, paraphrase, score) in enumerate(corpora[name], 1):
        kind = kinds[name].get(number, "")
        where = f"{name}:{number}: {kind}: {reference} | {paraphrase}"
        sizes = sorted((len(reference.split()), len(paraphrase.split())))
        shared = overlap(reference, paraphrase)
        assert (sizes[1] < 5) == (sizes[0] < 5) == (kind == "short"), where
        assert sizes[1] <= 40, where
        assert (shared > 0.7) == (kind == "near_copy"), where
        assert (float(score) < 0.4) == (kind == "mismatch"), where
        assert 0 <= float(score) <= 1, where
        assert ((reference, paraphrase, score) in clean) == (kind == "duplicate"), where
        languages = {language_of(reference), language_of(paraphrase)} - {""}
        if kind != "short":
            assert (languages != {"eng"}) == (kind == "wrong_language"), where
        if kind != "duplicate":
            clean.add((reference, paraphrase, score))


def test_few_sentences_are_repeated(
    corpora: dict[str, list[list[str]]], kinds: dict[str, dict[int, str]]
) -> None:
    for name, lines in corpora.items():
        pairs = Counter(tuple(line[:2]) for line in lines)
        duplicates = sum(kind == "duplicate" for kind in kinds[name].values())
        assert sum(count - 1 for count in pairs.values()) == duplicates
        english = Counter(line[0] for line in lines)
        assert len(english) > 19_000
        assert max(english.values()) <= 8


def test_the_vocabulary_is_wide(corpora: dict[str, list[list[str]]]) -> None:
    for lines in corpora.values():
        assert len({word for line in lines for word in line[0].lower().strip(".?").split()}) > 1_500


def test_no_training_sentence_stands_in_a_test(
    corpora: dict[str, list[list[str]]], tests: dict[str, list[list[str]]]
) -> None:
    training = {side.lower() for lines in corpora.values() for line in lines for side in line[:2]}
    testing = {side.lower() for pairs in tests.values() for pair in pairs for side in pair[:2]}
    for path in SAMPLE.glob("tatoeba/*"):
        testing |= set(path.read_text(encoding="utf-8").lower().splitlines())
    assert len(testing) > 13_000
    assert training & testing == set()


def test_the_sts_archive_has_the_official_names(tests: dict[str, list[list[str]]]) -> None:
    years = Counter(int(name[7:9]) for name in tests)
    assert years == STS_YEARS | {17: 3}
    assert "STS/STS13-en-test/STS.input.SMT.txt" in tests
    assert "STS/STS17-test/STS.input.track4a.es-en.txt" in tests


def test_grades_lie_between_0_and_5_and_are_spread(tests: dict[str, list[list[str]]]) -> None:
    for name, pairs in tests.items():
        grades = [float(grade) for _, _, grade in pairs if grade]
        assert len(grades) == 200, name
        assert min(grades) >= 0, name
        assert max(grades) <= 5, name
        for low, high in ((0, 1.5), (1.5, 3.5), (3.5, 5.01)):
            assert sum(low <= grade < high for grade in grades) >= 20, (name, low)
    blank = {name[7:9] for name, pairs in tests.items() if any(not grade for _, _, grade in pairs)}
    assert blank == {"15", "16"}


def correlation(first: list[float], second: list[float]) -> float:
    means = [sum(values) / len(values) for values in (first, second)]
    one, two = (
        [value - mean for value in values] for values, mean in zip((first, second), means, strict=True)
    )

    def product(a: list[float], b: list[float]) -> float:
        return sum(x * y for x, y in zip(a, b, strict=True))

    return product(one, two) / (product(one, one) * product(two, two)) ** 0.5


def test_shared_words_are_a_mediocre_predictor_of_the_grade(tests: dict[str, list[list[str]]]) -> None:
    for name, pairs in tests.items():
        if "es-en" in name:
            continue
        graded = [pair for pair in pairs if pair[2]]
        sides = [[set(side.lower().strip(".?").split()) for side in pair[:2]] for pair in graded]
        shared = [len(one & two) / len(one | two) for one, two in sides]
        assert 0.1 < correlation(shared, [float(grade) for _, _, grade in graded]) < 0.8, name


@pytest.mark.parametrize("code", ["deu", "fra", "spa"])
def test_tatoeba_sentences_are_aligned_and_unique(code: str) -> None:
    sides = [
        (SAMPLE / f"tatoeba/tatoeba.{code}-eng.{side}").read_text(encoding="utf-8").splitlines()
        for side in (code, "eng")
    ]
    for side in sides:
        assert len(side) == len(set(side)) == 500
    questions = [one.endswith("?") == two.endswith("?") for one, two in zip(*sides, strict=True)]
    assert all(questions)
