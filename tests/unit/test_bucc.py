"""Test how BUCC is read and how F1 follows from thresholds, against plain computations."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from archives import make_tar
from function_encoder import FunctionEncoder
from trigram_encoder import ENCODER, cosines, not_a_number

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.evaluation.bitext import evaluate_bucc
from paraphrastic_pipeline.evaluation.bitext_data import prepare_bucc
from paraphrastic_pipeline.evaluation.figures import Figures
from paraphrastic_pipeline.evaluation.testsets import gold_digest

MEMBERS = ("b/de-en.de", "b/de-en.en", "b/de-en.gold")


def evaluate(testset: tuple[Path, Path], encoder: FunctionEncoder = ENCODER, threads: int = 1) -> Figures:
    sentences, gold = testset
    return evaluate_bucc(encoder, [sentences], [gold], pairs=["de-en"], threads=threads)


def prepared(folder: Path, german: str | bytes, english: str | bytes, gold: str | bytes) -> tuple[Path, Path]:
    contents = [text if isinstance(text, bytes) else text.encode() for text in (german, english, gold)]
    path = make_tar(folder / "bucc.tar.bz2", dict(zip(MEMBERS, contents, strict=True)), "w:bz2")
    outputs = folder / "de-en.parquet", folder / "de-en.gold.parquet"
    prepare_bucc(path, *outputs, languages=("de", "en"), members=MEMBERS)
    return outputs


GOOD = ("de-1\tEins.\nde-2\tZwei.\n", "en-1\tOne.\nen-2\tTwo.\n", "de-1\ten-1\n")


def test_bucc_is_read(tmp_path: Path) -> None:
    german = "de-1\t Ein\tTab. \r\nde-2\t\n"
    sentences, gold = (pd.read_parquet(path) for path in prepared(tmp_path, german, *GOOD[1:]))
    assert list(sentences.itertuples(index=False, name=None)) == [
        ("de", "de-1", "Ein\tTab."), ("de", "de-2", ""), ("en", "en-1", "One."), ("en", "en-2", "Two."),
    ]  # fmt: skip
    assert list(gold.itertuples(index=False, name=None)) == [("de-1", "en-1")]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({0: "de-1 Eins.\n"}, r"b/de-en\.de:1: expected"),
        ({1: "en-1\tOne.\n\tTwo.\n"}, r"b/de-en\.en:2: expected"),
        ({1: "en-1\tOne.\nen-1\tTwo.\n"}, r"b/de-en\.en:2: the id 'en-1' occurs again"),
        ({0: b"de-1\t\xff\n"}, r"b/de-en\.de:1: not UTF-8: byte 0xff"),
        ({0: ""}, r"b/de-en\.de: is empty"),
        ({2: ""}, r"b/de-en\.gold: is empty"),
        ({2: "de-1\n"}, r"b/de-en\.gold:1: expected"),
        ({2: "de-1\ten-1\nde-9\ten-2\n"}, r"b/de-en\.gold: the id 'de-9' is not in b/de-en\.de"),
        ({2: "en-1\tde-1\n"}, r"b/de-en\.gold: the id 'en-1' is not in b/de-en\.de"),
    ],
)
def test_bad_lines_of_bucc_are_named(tmp_path: Path, changed: dict[int, str | bytes], message: str) -> None:
    with pytest.raises(InputError, match=f"bucc\\.tar\\.bz2: {message}"):
        prepared(tmp_path, *(changed.get(index, text) for index, text in enumerate(GOOD)))
    assert not list(tmp_path.glob("*.parquet"))


def test_a_missing_gold_standard_is_named(tmp_path: Path) -> None:
    path = make_tar(tmp_path / "bucc.tar.bz2", dict.fromkeys(MEMBERS[:2], b"a-1\tOne.\n"), "w:bz2")
    with pytest.raises(InputError, match=r"has no member b/de-en\.gold; it holds b/de-en\.de, b/de-en\.en"):
        prepare_bucc(path, tmp_path / "s", tmp_path / "g", languages=("de", "en"), members=MEMBERS)


def mined_plainly(both: np.ndarray, k: int, *, ratio: bool) -> list[tuple[float, int, int]]:
    """Mine the candidates of both directions, highest scores first, and use each sentence once."""
    first, second = (np.sort(side, axis=1)[:, -k:].mean(axis=1) for side in (both, both.T))
    scores = both / ((first[:, None] + second[None]) / 2) if ratio else both
    candidates = set()
    for i, row in enumerate(both):
        near = np.argsort(-row, kind="stable")[:k]
        candidates.add((i, int(near[scores[i, near].argmax()])))
    for j, column in enumerate(both.T):
        near = np.argsort(-column, kind="stable")[:k]
        candidates.add((int(near[scores[near, j].argmax()]), j))
    sources, targets, pairs = set(), set(), []
    for score, i, j in sorted((-scores[pair], *pair) for pair in candidates):
        if i not in sources and j not in targets:
            sources.add(i)
            targets.add(j)
            pairs.append((-float(score), i, j))
    return pairs


def f1_of(pairs: list[tuple[float, int, int]], gold: set[tuple[int, int]], threshold: float) -> float:
    accepted = {(i, j) for score, i, j in pairs if score >= threshold}
    return 2 * len(accepted & gold) / (len(accepted) + len(gold))


def bucc_case(folder: Path, n: int = 300) -> tuple[tuple[Path, Path], list[str], list[str], set]:
    """Write sentences made of names. Every third one has a translation, and some of them occur twice."""
    generator = np.random.default_rng(0)
    names = ["".join(generator.choice(list("abcdefghijklmnop"), size=6)).capitalize() for _ in range(200)]

    def sentence(words) -> str:
        return " ".join(names[word] for word in words)

    german, english, gold = [], [], set()
    for i in range(n):
        words = generator.integers(200, size=5)
        german.append(f"{sentence(words)} ging")
        other = np.concatenate([words[:4], generator.integers(200, size=1)])
        english.append(f"{sentence(other if i % 3 == 0 else generator.integers(200, size=5))} went")
        if i % 3 == 0:
            gold.add((i, i))
    # The sides have different sizes.
    english += [f"{sentence(generator.integers(200, size=5))} went" for _ in range(40)]
    lines = [
        "".join(f"{code}-{i}\t{text}\n" for i, text in enumerate([*side, *side[:20]]))
        for code, side in (("de", german), ("en", english))
    ]
    # The gold standard also names a copy, and it names one pair twice through copies of both sides.
    named = [*sorted(gold), (n + 3, 3), (n + 6, len(english) + 6)]
    pairs = "".join(f"de-{i}\ten-{j}\n" for i, j in named)
    return prepared(folder, *lines, pairs), german, english, gold


@pytest.mark.parametrize("threads", [1, 2])
def test_precision_recall_and_f1(tmp_path: Path, threads: int) -> None:
    testset, german, english, gold = bucc_case(tmp_path)
    figures = evaluate(testset, threads=threads)
    values = {name: figure.value for name, figure in figures.items()}
    (data,) = figures["f1 de-en margin"].data
    counts = {key: count for key, count in data.about.items() if key != "scorings"}
    assert counts == {"sentences": {"de": 320, "en": 360}, "gold": 102}
    standard = pd.read_parquet(testset[1]).itertuples(index=False, name=None)
    assert data.digest == gold_digest(standard)
    for scoring in ("cosine", "margin"):
        pairs = mined_plainly(cosines(german, english), 4, ratio=scoring == "margin")
        best = max(f1_of(pairs, gold, score) for score, _, _ in pairs)
        assert values[f"f1 de-en {scoring}"] == pytest.approx(best)
        found = data.about["scorings"][scoring]
        accepted = {(i, j) for score, i, j in pairs if score >= found["threshold"]}
        assert values[f"precision de-en {scoring}"] == pytest.approx(len(accepted & gold) / len(accepted))
        assert values[f"recall de-en {scoring}"] == pytest.approx(len(accepted & gold) / 100)
        low, high = figures[f"f1 de-en {scoring}"].interval(200)
        assert low < best < high
        assert figures[f"f1 de-en {scoring}"].n == 300
    assert values["f1 de-en margin"] > 0.8


def test_resamples_are_of_source_sentences(tmp_path: Path) -> None:
    testset, *_ = bucc_case(tmp_path)
    figures = evaluate(testset)
    values = {name: figures[f"{name} de-en margin"].value for name in ("precision", "recall", "f1")}
    samples = {name: figures[f"{name} de-en margin"].resampled(2000) for name in values}
    for name, value in values.items():
        assert samples[name].mean() == pytest.approx(value, abs=0.01)
    # Each sample has shares of about 100 pairs.
    recall = values["recall"]
    assert samples["recall"].std() == pytest.approx((recall * (1 - recall) / 100) ** 0.5, rel=0.2)
    precision, recall, f1 = samples.values()
    np.testing.assert_allclose(2 * precision * recall / (precision + recall), f1)


def test_vectors_that_mine_nothing(tmp_path: Path) -> None:
    encoder = FunctionEncoder("Odd", 128, "o", not_a_number)
    testset = prepared(tmp_path, *GOOD[:2], "de-1\ten-1\nde-2\ten-2\n")
    with pytest.raises(InputError, match=r"^Odd: BUCC de-en: the vector of .* is not finite"):
        evaluate(testset, encoder)


def test_the_data_of_the_mirror(mirror: Path, tmp_path: Path) -> None:
    path = mirror / "comparable.limsi.fr/bucc2018/bucc2018-de-en.training-gold.tar.bz2"
    members = tuple(f"bucc2018/de-en/de-en.training.{end}" for end in ("de", "en", "gold"))
    testset = tmp_path / "s.parquet", tmp_path / "g.parquet"
    prepare_bucc(path, *testset, languages=("de", "en"), members=members)
    sentences, gold = (pd.read_parquet(each) for each in testset)
    assert (len(sentences), len(gold)) == (20_000, 250)
