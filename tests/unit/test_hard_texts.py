"""Test that every step of the way, from a corpus to a vector, treats hard texts as `hard_texts` wants it.

`test_exports` does so with the exports of models, and `test_rows` with the formats of tables.
"""

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import unicode_text
from hard_texts import NOTHING, TEXTS
from pair_files import filter_files, selection_of
from small_models import model_of, trained

from paraphrastic.base.text import prepare_text
from paraphrastic.cli import main
from paraphrastic.model.average import AverageEncoder
from paraphrastic_pipeline.corpus.contamination import mark_contamination
from paraphrastic_pipeline.corpus.language_id import LanguageIdentifier, as_read
from paraphrastic_pipeline.corpus.readers import extract_corpus
from paraphrastic_pipeline.corpus.score import score_pairs
from paraphrastic_pipeline.corpus.select import select_pairs
from paraphrastic_pipeline.corpus.testset_sentences import gather_testsets

FOLDED = {"folding": {"ar": "marks", "ru": "yo", "tr": "dotted"}, "lowercase": True}
PREPARATION = {"segmentation": {}, **FOLDED}
ALL, PLAIN = [each.text for each in TEXTS], [each.plain for each in TEXTS]
# Steps before sentencepiece see the same text.
EARLY = [each for each in TEXTS if not each.form]


@pytest.fixture(scope="module")
def model():
    """A model with random numbers that knows most characters of the texts, and the others by their bytes."""
    processor = trained(prepare_text(PLAIN, **PREPARATION), vocab_size=700, byte_fallback=True)
    return model_of(processor, gaps=False, config=PREPARATION)


def write(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


def prepared(texts):
    """Texts as the model sees them; sentencepiece collapses spaces."""
    return [" ".join(text.split()) for text in prepare_text(texts, **PREPARATION)]


def selected(folder, texts, preparation=PREPARATION, **filters):
    """The scores of texts, and the text that training sees of those that the selection keeps."""
    languages, pairs, scores = ("zh", "en"), folder / "pairs.parquet", folder / "scored.parquet"
    files = [write(folder / "a.txt", texts), write(folder / "b.txt", ["a plain text"] * len(texts))]
    extract_corpus("aligned", files, [{"languages": (code,)} for code in languages], languages, pairs)
    score_pairs(pairs, scores, languages=languages, preparation=preparation)
    options = {"selection": selection_of(filters), "preparation": preparation, "seed": 1}
    select_pairs([scores], *filter_files(folder), languages=languages, allow_few=True, **options)
    return pq.read_table(scores).to_pydict(), pq.read_table(folder / "out.parquet")["source"].to_pylist()


@pytest.mark.parametrize("hard", TEXTS, ids=lambda hard: hard.name)
def test_a_text_is_prepared_like_the_plain_one(hard):
    text, plain = prepared([hard.text, hard.plain])
    assert (text == plain) is not hard.form


def test_extraction_filters_and_training_see_plain_texts(tmp_path):
    texts = [each.text for each in EARLY]
    scored, kept = selected(tmp_path, texts)
    assert kept == prepared([each.plain for each in EARLY])
    counts = dict(zip([each.name for each in EARLY], scored["source_tokens"], strict=True))
    assert counts == {each.name: each.words for each in EARLY}
    # A filter counts the same.
    _, kept = selected(tmp_path, texts, length={"min": 6, "max": 100, "count": "first"})
    assert len(kept) == sum(each.words >= 6 for each in EARLY)


def test_texts_of_nothing_are_empty(tmp_path, model):
    assert selected(tmp_path, [*NOTHING, "a text"])[1] == ["a text"]
    assert not model.embed_raw_text(NOTHING).any()


@pytest.mark.parametrize(
    ("segmentation", "folding", "sentence"),
    [
        ({}, {"ar": "marks"}, "ٱلَّذِينَ يُؤۡمِنُونَ بِٱلۡغَيۡبِ كتـــاب"),
        ({}, {"ru": "yo"}, "Ёлка, всё и е\u0308ж ЕЩЁ зелёная"),
        ({}, {"tr": "dotted"}, "İSTANBUL IŞIK Diyarbakır I\u0307yi"),
        ({}, {"tr": "dotless"}, "İSTANBUL IŞIK Diyarbakır I\u0307yi"),
        ({"zh": "accurate"}, {}, "我来到北京清华大学，Hello World！ 他来到了网易杭研大厦"),
        ({"zh": "full"}, {}, "我来到北京清华大学，Hello World！ 他来到了网易杭研大厦"),
    ],
)
def test_corpora_and_models_prepare_odd_text_alike(tmp_path, model, segmentation, folding, sentence):
    texts = unicode_text.texts(300, [sentence, "A plain SENTENCE"])
    odd = [f"{sentence[:2]} {text}".translate(dict.fromkeys(map(ord, "\n\r\0"), " ")) for text in texts]
    preparation = {"segmentation": segmentation, "folding": folding, "lowercase": True}
    _, kept = selected(tmp_path, odd, preparation)
    own = AverageEncoder(model.tensors(), model.sentencepiece, {**model.config, **preparation})
    assert kept == [" ".join(text.split()) for text in own._prepare(odd, "zh")]
    assert kept != odd


@pytest.mark.parametrize("hard", [each for each in TEXTS if each.language], ids=lambda hard: hard.name)
def test_the_language_is_that_of_the_plain_text(mirror, hard):
    lid = LanguageIdentifier(mirror / "dl.fbaipublicfiles.com/fasttext/supervised-models/lid.176.ftz")
    *_, found = lid.identify(as_read(prepare_text([hard.text, hard.plain], **FOLDED)), hard.language)
    assert found[0] >= 0.1
    assert found[0] == found[1]


def test_contamination_finds_hard_texts(tmp_path):
    # Tests have the plain texts and training the others, and the other way round.
    for texts, tests in ((ALL, PLAIN), (PLAIN, ALL)):
        selected(tmp_path, texts)
        test, about = write(tmp_path / "test.txt", tests), {"testset": "tatoeba", "languages": ("xx", "en")}
        settings = {"segmentation": {}, "lowercase": True}
        gather_testsets([test], tmp_path / "tests.parquet", files=[about], **settings)
        mark_contamination(
            tmp_path / "out.parquet", tmp_path / "tests.parquet", tmp_path / "found.parquet",
            counts=tmp_path / "c.json", examples=tmp_path / "e.tsv", seed=1,
        )  # fmt: skip
        rows = pq.read_table(tmp_path / "found.parquet").to_pylist()
        found = [row["row"] for row in rows if (row["side"], row["kind"]) == ("source", "exact")]
        assert [TEXTS[row].name for row in range(len(TEXTS)) if row not in found] == []


def test_models_and_commands_see_the_plain_texts(tmp_path, model, monkeypatch):
    vectors, plain = model.embed_raw_text(ALL), model.embed_raw_text(PLAIN)
    np.testing.assert_allclose(vectors, plain, rtol=0, atol=1e-5)
    distinct = list(dict.fromkeys(PLAIN))
    assert len(np.unique(model.embed_raw_text(distinct).round(4), axis=0)) == len(distinct)
    monkeypatch.chdir(tmp_path)
    model.write(Path("model"))
    write(Path("pairs.tsv"), map("\t".join, zip(ALL, PLAIN, strict=True)))
    assert main(["score", "--input", "pairs.tsv", "--output", "out.tsv", "--model", "model"]) == 0
    scores = [float(line.split("\t")[0]) for line in Path("out.tsv").read_text("utf-8").split("\n")[:-1]]
    np.testing.assert_allclose(scores, np.ones(len(ALL)), atol=1e-4)
