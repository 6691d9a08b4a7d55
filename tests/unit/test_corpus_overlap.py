"""Test trigram overlap and changed words against known cases and a plain reference."""

import random
import unicodedata
import zipfile

import numpy as np
import pytest
from paraphrastic_pipeline.corpus.treebank import word_tokenizer

from paraphrastic_pipeline.corpus import overlap
from paraphrastic_pipeline.corpus.overlap import compare_words
from paraphrastic_pipeline.corpus.tokens import Tokens


def overlap_of(sources, targets, **settings):
    return compare_words(sources, targets, **settings)[0]


def changed_words(sources, targets):
    return compare_words(sources, targets)[1].tolist()


def reference_words(text: str) -> list[str]:
    words = []
    for piece in text.lower().split():
        head, tail = [], []
        while piece and unicodedata.category(piece[0])[0] in "PS":
            head.append(piece[0])
            piece = piece[1:]
        while piece and unicodedata.category(piece[-1])[0] in "PS":
            tail.insert(0, piece[-1])
            piece = piece[:-1]
        words += [*head, *([piece] if piece else []), *tail]
    return words


def reference_overlap(source: str, target: str, split=reference_words) -> float:
    """The share of the shorter sentence's trigrams, each occurrence, that the other sentence has."""
    trigrams = []
    for text in (source, target):
        words = split(text)
        trigrams.append([" ".join(words[i : i + 3]) for i in range(len(words) - 2)])
    shorter, longer = trigrams[::-1] if len(trigrams[1]) < len(trigrams[0]) else trigrams
    return sum(trigram in longer for trigram in shorter) / len(shorter) if shorter else 0.0


def reference_change(source: str, target: str) -> int:
    """Count the words of the longer sentence between the common beginning and the common end."""
    one, other = (
        [word for word in reference_words(text) if any(map(str.isalnum, word))] for text in (source, target)
    )
    longer, shorter = max(len(one), len(other)), min(len(one), len(other))
    start = 0
    while start < shorter and one[start] == other[start]:
        start += 1
    end = 0
    while end < shorter - start and one[-1 - end] == other[-1 - end]:
        end += 1
    return longer - start - end


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("a b c d", "a b c d", 1.0),
        ("A B c", "x a b C y", 1.0),
        ("a b c d", "a b c x", 0.5),
        ("a b", "a b", 0.0),
        ("a b c", "a b", 0.0),
        ("", "", 0.0),
        ("", "a b c", 0.0),
        ("a b c", "c b a", 0.0),
        ("a a a a", "a a a", 1.0),
        ("a a a a", "a a a b b b", 1.0),
        ("a b c.", "(a b c)", 1 / 2),
    ],
)
def test_known_cases(source, target, expected):
    forth, back = overlap_of([source], [target]), overlap_of([target], [source])
    assert forth.dtype == np.float32
    assert forth == pytest.approx([expected])
    assert back == pytest.approx([expected])


def test_of_two_sentences_with_equally_many_words_the_source_counts():
    assert overlap_of(["a a a a x", "a a a b c"], ["a a a b c", "a a a a x"]).tolist() == pytest.approx(
        [2 / 3, 1 / 3]
    )


def test_trigrams_do_not_cross_sentences():
    assert overlap_of(["a b", "c d"], ["x", "a b c d"]).tolist() == [0, 0]
    assert overlap_of(["a b c", "d e f"], ["d e f", "a b c"]).tolist() == [0, 0]


def test_no_pairs():
    overlaps, changes = compare_words([], [])
    assert overlaps.shape == changes.shape == (0,)


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("a dog on the grass.", "A dog on the lawn", 1),
        ("a dog on the grass", "a dog on the .", 1),
        ("one word more here", "one more here", 1),
        ("don't go, John!", "Don't go John", 0),
        ("a b c d e", "a x c y e", 3),
        ("a a", "a a a", 1),
        ("a b a b", "a b", 2),
        ("a b c", "x y", 3),
        ("", "a b", 2),
        ("", ".", 0),
    ],
)
def test_changed_words(source, target, expected):
    assert changed_words([source, target, "x"], [target, source, "x"]) == [expected, expected, 0]


def test_changed_words_of_random_pairs():
    sources, targets = random_pairs(3000)
    expected = [reference_change(s, t) for s, t in zip(sources, targets, strict=True)]
    assert changed_words(sources, targets) == expected
    assert len(set(expected)) > 8


def random_pairs(count: int) -> tuple[list[str], list[str]]:
    draw = random.Random(5)
    text = lambda: " ".join(draw.choice("abcd") for _ in range(draw.randrange(12)))  # noqa: E731
    return [text() for _ in range(count)], [text() for _ in range(count)]


@pytest.mark.parametrize("key_bits", [63, 12, 8])
def test_few_bits_for_keys_change_nothing(monkeypatch, key_bits):
    """If a block has too many words and pairs for the bits of a key, it is processed in parts."""
    sources, targets = random_pairs(500)
    monkeypatch.setattr(overlap, "_KEY_BITS", key_bits)
    if key_bits == 8:  # too few bits for three words of a pair
        with pytest.raises(ValueError, match="a pair of more than two million words"):
            overlap_of(["a b c d e f g"], ["h i j k"])
        return
    expected = [reference_overlap(s, t) for s, t in zip(sources, targets, strict=True)]
    np.testing.assert_allclose(overlap_of(sources, targets), expected, rtol=1e-6)
    # The numbers of eleven words have four bits, so that twelve are enough for one pair.
    assert overlap_of(["a b c d e f g"], ["h i j k"]).tolist() == [0.0]


@pytest.mark.parametrize("word_bits", [1, 10, 19, 20, 21])
def test_a_pair_and_its_trigram_share_63_bits(word_bits):
    # If three words have 60 bits, three are left for pairs, which are then compared eight at a time.
    pairs, last = 40, (1 << word_bits) - 1
    ids = np.tile(np.array([last, 0, last, last], np.int32), 2 * pairs)
    tokens = Tokens(ids, np.arange(2 * pairs + 1) * 4, [])
    shared = overlap._shared_trigrams(tokens, pairs, word_bits, np.ones(pairs, bool))
    assert shared.tolist() == [2] * pairs


def test_a_vocabulary_too_large_for_the_keys_halves_the_block(monkeypatch):
    sources = [f"w{n} x{n} y{n} z{n}" for n in range(32)]
    targets = [f"w{n} x{n} y{n} q" for n in range(32)]
    monkeypatch.setattr(overlap, "_KEY_BITS", 12)
    overlaps, changes = compare_words(sources, targets)
    assert overlaps.tolist() == [0.5] * 32
    assert changes.tolist() == [1] * 32


@pytest.mark.slow("compares a thousand real sentences")
def test_real_sentences(mirror):
    sources, targets = zip(*paranmt_pairs(mirror)[::50], strict=True)
    expected = [reference_overlap(s, t) for s, t in zip(sources, targets, strict=True)]
    assert sum(value > 0 for value in expected) > 100
    np.testing.assert_allclose(overlap_of(sources, targets), expected, rtol=1e-6)
    assert changed_words(sources, targets) == list(map(reference_change, sources, targets))


# Words as `nltk.word_tokenize` splits them, checked with NLTK's own data.
TREEBANK = {
    "i know. i know him well. he is here.": "i know . i know him well . he is here .",
    "i don't know what you're doing": "i do n't know what you 're doing",
    'they said "we can\'t go home"!': "they said `` we ca n't go home '' !",
    "mr. smith saw dr. who at 5 p.m. in the u.s.": "mr. smith saw dr. who at 5 p.m. in the u.s .",
    "it is on page 5. it is good. j. smith wrote it.": "it is on page 5. it is good . j. smith wrote it .",
    "wait... no. . . . yes": "wait ... no . . . . yes",
    "gonna cost 3.5% more, isn't it?": "gon na cost 3.5 % more , is n't it ?",
    "the 7. pepper or the 7. apple": "the 7. pepper or the 7. apple",
    "first (of two). second; third -- end.": "first ( of two ) . second ; third -- end .",
    "": "",
}


@pytest.mark.parametrize("text", TREEBANK)
def test_treebank_words_are_those_of_nltk(text):
    assert word_tokenizer()(text) == TREEBANK[text].split()


def test_treebank_words_are_those_of_nltks_own_data(mirror):
    """Without the data that NLTK downloads (`python -m nltk.downloader punkt_tab`), this is skipped."""
    import nltk

    try:
        nltk.data.find("tokenizers/punkt_tab/english/")
    except LookupError:
        pytest.skip("NLTK's punkt_tab is not installed")
    for text in TREEBANK:
        assert nltk.word_tokenize(text) == TREEBANK[text].split()
    split = word_tokenizer()
    for source, target in paranmt_pairs(mirror)[::40]:
        for text in (source.lower(), target.lower()):
            assert split(text) == nltk.word_tokenize(text), text


def test_overlap_in_the_words_of_nltk():
    sources = [*TREEBANK, "i know. i know him well. he is here.", "a b c d e", "a a a b"]
    targets = [*TREEBANK.values(), "i know . i know him well, he is here .", "a b c", "a a a a a"]
    expected = [
        reference_overlap(*pair, split=word_tokenizer()) for pair in zip(sources, targets, strict=True)
    ]
    found = overlap_of(sources, targets, tokenizer="treebank")
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert found[0] == 1.0


def paranmt_pairs(mirror):
    with zipfile.ZipFile(mirror / "phontron.com/data/para-nmt-50m.zip") as archive:
        text = archive.read("para-nmt-50m/para-nmt-50m.txt").decode("utf-8")
    return [tuple(line.split("\t")[:2]) for line in text.split("\n")[:-1]]


@pytest.mark.slow("cuts thousands of real sentences")
def test_tokenizers_decide_alike_on_real_sentences(mirror):
    rows = paranmt_pairs(mirror)[:5000]
    sides = list(zip(*rows, strict=True))
    decisions = [overlap_of(*sides, tokenizer=name) <= np.float32(0.7) for name in ("word", "treebank")]
    assert 0 < decisions[0].sum() < len(rows)
    assert np.mean(decisions[0] != decisions[1]) < 0.001
