"""Test back-translation with a tiny Marian of random weights, and what becomes of bad translations."""

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from pair_files import write_pairs
from paraphrastic_pipeline.corpus.filter_files import FilterFiles
from paraphrastic_pipeline.corpus.translated import gather_translations
from small_corpus import sentence_pairs
from tiny_transformer import write_marian
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.corpus import translation
from paraphrastic_pipeline.corpus.translation import (
    Translate,
    Translation,
    TranslatorSettings,
    open_translator,
    translate_corpus,
)

PAIRS = [(target, source) for source, target in sentence_pairs(60)]


@pytest.fixture(scope="module")
def marian(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_marian(tmp_path_factory.mktemp("marian"), PAIRS)


def test_translations_are_those_of_transformers(marian: Path) -> None:
    settings = TranslatorSettings(model=str(marian), beam=3)
    sentences = [source for source, _ in PAIRS[:6]]
    found = open_translator(settings)(sentences)
    model: Any = AutoModelForSeq2SeqLM.from_pretrained(marian)
    tokenizer: Any = AutoTokenizer.from_pretrained(marian)
    for sentence, each in zip(sentences, found, strict=True):
        inputs = tokenizer([sentence], return_tensors="pt")
        limit = 20 + 2 * inputs["input_ids"].shape[1]
        out = model.generate(
            **inputs,
            num_beams=3,
            max_new_tokens=limit,
            length_penalty=1.0,
            output_scores=True,
            return_dict_in_generate=True,
        )
        assert each.text == tokenizer.decode(out.sequences[0], skip_special_tokens=True)
        steps = model.compute_transition_scores(
            out.sequences, out.scores, out.beam_indices, normalize_logits=False
        )[0]
        # The end that is forced at the limit has no probability of its own in generation.
        free = steps[:-1] if not each.ended else steps
        total = float(free.sum())
        if not each.ended:
            logits = model(**inputs, decoder_input_ids=out.sequences[:, :-1]).logits[0, -1]
            total += float(torch.log_softmax(logits, -1)[out.sequences[0, -1]])
        assert each.score == pytest.approx(total / len(steps), abs=1e-4)


def test_a_token_that_is_forced_has_no_part_in_the_score(marian: Path) -> None:
    """M2M-100 and NLLB begin every translation with the token of its language."""
    tokenizer: Any = AutoTokenizer.from_pretrained(marian)
    codes = tokenizer.convert_ids_to_tokens([7, 9])
    found = open_translator(TranslatorSettings(model=str(marian), beam=2, codes=codes))([PAIRS[0][0]])
    model: Any = AutoModelForSeq2SeqLM.from_pretrained(marian)
    inputs = tokenizer([PAIRS[0][0]], return_tensors="pt")
    out = model.generate(
        **inputs, num_beams=2, max_new_tokens=20 + 2 * inputs["input_ids"].shape[1], forced_bos_token_id=9,
        length_penalty=1.0, output_scores=True, return_dict_in_generate=True,
    )  # fmt: skip
    assert int(out.sequences[0, 1]) == 9
    assert found[0].ended
    assert found[0].score == pytest.approx(float(out.sequences_scores[0]), abs=1e-4)


def test_no_translation_is_longer_than_the_model_has_places(tmp_path: Path) -> None:
    folder = write_marian(tmp_path / "endless", PAIRS)
    model: Any = AutoModelForSeq2SeqLM.from_pretrained(folder)
    # The end of a sentence is the most improbable of all pieces.
    model.final_logits_bias[0, model.config.eos_token_id] = -1e4
    model.save_pretrained(folder)
    sentence = " ".join(PAIRS[0][0].split() * 9)
    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    length = len(tokenizer(sentence)["input_ids"])
    assert 120 < length < 256
    settings = TranslatorSettings(model=str(folder), beam=1, max_tokens=256)
    (found,) = open_translator(settings)([sentence])
    assert found.text is not None
    assert not found.ended
    with pytest.raises(
        InputError, match=r"max_tokens: 257 tokens are asked for; the model has places for 256"
    ):
        open_translator(replace(settings, max_tokens=257))


def test_few_scores_are_in_memory_at_once(marian: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sentences = [source for source, _ in PAIRS[:9]]
    settings = TranslatorSettings(model=str(marian), beam=2)
    whole = open_translator(settings)(sentences)
    monkeypatch.setattr(translation, "MOST_SCORES", 1000)
    for one, other in zip(open_translator(settings)(sentences), whole, strict=True):
        assert (one.text, one.ended) == (other.text, other.ended)
        assert one.score == pytest.approx(other.score, abs=1e-5)


def test_neither_batches_nor_neighbours_matter(marian: Path) -> None:
    sentences = [source for source, _ in PAIRS[:8]] + ["wort " * 200]
    settings = TranslatorSettings(model=str(marian), beam=2, max_tokens=60)
    together = open_translator(settings)(sentences)
    alone = [open_translator(settings)([sentence])[0] for sentence in sentences[:2]]
    assert together[-1] == Translation(None, None, False)
    # A batch has one limit, so translations that never end are cut off at different places.
    for one, other in zip(together[:2], alone, strict=True):
        assert one.ended == other.ended
        if one.ended:
            assert one.text == other.text
    assert open_translator(settings)([]) == []


class Counting:
    """A translator that counts its sentences and can fail at one of them."""

    def __init__(self, fail_at: int | None = None) -> None:
        self.fail_at, self.sentences = fail_at, 0

    def open(self, _: TranslatorSettings, *, threads: int) -> Translate:
        def translate(sentences: Sequence[str]) -> list[Translation]:
            self.sentences += len(sentences)
            if self.fail_at is not None and self.sentences >= self.fail_at:
                raise KeyboardInterrupt
            return [Translation(f"{sentence} again", -0.5, True) for sentence in sentences]

        return translate


def test_a_run_that_was_killed_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translation, "BLOCK_PAIRS", 10)
    pairs = write_pairs(tmp_path / "pairs.parquet", [(f"a {row}", f"b {row}") for row in range(45)])
    settings, first, second = TranslatorSettings(model="x"), Counting(fail_at=30), Counting()
    output = tmp_path / "out.parquet"
    with pytest.raises(KeyboardInterrupt):
        translate_corpus(pairs, output, settings=settings, translator=first.open)
    assert not output.exists()
    translate_corpus(pairs, output, settings=settings, translator=second.open)
    assert second.sentences == 25
    table = pd.read_parquet(output)
    assert table["source"].to_list() == [f"b {row}" for row in range(45)]
    assert table["target"].to_list() == [f"a {row} again" for row in range(45)]
    assert not Path(f"{output}.parts").exists()
    # Other settings begin anew.
    with pytest.raises(KeyboardInterrupt):
        translate_corpus(pairs, output, settings=settings, translator=Counting(fail_at=30).open)
    other = Counting()
    translate_corpus(pairs, output, settings=TranslatorSettings(model="y"), translator=other.open)
    assert other.sentences == 45


def test_a_sentence_that_recurs_is_translated_once(tmp_path: Path) -> None:
    pairs = write_pairs(tmp_path / "pairs.parquet", [("same", "one"), ("other", "two"), ("same", "three")])
    counting = Counting()
    translate_corpus(
        pairs, tmp_path / "out.parquet", settings=TranslatorSettings(model="x"), translator=counting.open
    )
    assert counting.sentences == 2
    assert pd.read_parquet(tmp_path / "out.parquet")["target"].to_list() == [
        "same again", "other again", "same again"
    ]  # fmt: skip


def gathered(
    tmp_path: Path, rows: Sequence[tuple[str, str | None, float | None, bool]], **settings: Any
) -> dict[str, int]:
    source, target, score, ended = zip(*rows, strict=True)
    columns = {"source": source, "target": target, "line": range(len(rows))}
    table = pa.table({**columns, "translation_score": score, "ended": ended})
    pq.write_table(table, tmp_path / "in.parquet")
    result = gather_translations(
        [tmp_path / "in.parquet"],
        FilterFiles(tmp_path / "out.parquet", tmp_path / "counts.json", tmp_path / "examples.tsv"),
        **{
            "language": "en",
            "identifier": None,
            "rule": {"rule": "probability", "min_probability": 0.1},
            **settings,
        },
        preparation={"folding": {}, "lowercase": True},
        seed=1,
    )
    assert result == json.loads((tmp_path / "counts.json").read_text())
    return result


def test_bad_translations_are_counted_by_reason(tmp_path: Path) -> None:
    rows = [
        ("a", "good one", -0.1, True),
        ("b", " ?! ", -0.2, True),
        ("c", "on and on", -0.3, False),
        ("d", None, None, False),
        ("e", "good two", -0.4, True),
    ]
    assert gathered(tmp_path, rows) == {
        "read": 5, "too_long": 1, "endless": 1, "empty": 1, "wrong_language": 0, "pairs": 2
    }  # fmt: skip
    found = pd.read_parquet(tmp_path / "out.parquet")
    assert list(found.itertuples(index=False, name=None)) == [
        ("a", "good one", 1, -0.1),
        ("e", "good two", 5, -0.4),
    ]
    assert (tmp_path / "examples.tsv").read_text().startswith("kind\tline\tsource\ttarget")


def test_translations_in_capitals_are_in_their_language(tmp_path: Path, mirror: Path) -> None:
    lid = mirror / "dl.fbaipublicfiles.com/fasttext/supervised-models/lid.176.ftz"
    rows = [
        ("a", "NO SMOKING HERE", -0.1, True),
        ("a", "the children are playing in the garden", -0.1, True),
        ("b", "Die Kinder spielen im Garten", -0.2, True),
    ]
    assert gathered(tmp_path, rows, identifier=lid)["wrong_language"] == 1
    assert gathered(tmp_path, rows, identifier=lid, identify="original")["wrong_language"] == 2
    assert gathered(tmp_path, rows, identifier=lid, rule=None)["wrong_language"] == 0
    with pytest.raises(
        InputError, match=r"does not know xx, as it has no label xx; set selection.paraphrase.lang"
    ):
        gathered(tmp_path, rows, identifier=lid, language="xx")


def test_a_corpus_without_any_translation_is_explained(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="none of 2 translations can be used: endless 1, empty 1"):
        gathered(tmp_path, [("a", "", -0.1, True), ("b", "x", -0.1, False)])
    assert not (tmp_path / "out.parquet").exists()


def test_bad_translators_are_explained(marian: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(InputError, match="nobody/nothing: transformers cannot load it"):
        open_translator(TranslatorSettings(model="nobody/nothing"))
    with pytest.raises(InputError, match=r"translator\.codes: 'xx' is not one of the model's languages"):
        open_translator(TranslatorSettings(model=str(marian), codes=["xx", "yy"]))
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="empty: transformers cannot load it"):
        open_translator(TranslatorSettings(model=str(tmp_path / "empty")))


def test_ctranslate2_finds_the_same_translations(tmp_path: Path) -> None:
    pytest.importorskip("ctranslate2", reason="CTranslate2 is not installed")
    place = write_marian(tmp_path / "marian", PAIRS, steps=40)
    sentences = [source for source, _ in PAIRS[:6]]
    # The beam searches of the two differ in details.
    settings = TranslatorSettings(model=str(place), beam=1)
    ours = open_translator(settings)(sentences)
    theirs = open_translator(replace(settings, backend="ctranslate2"))(sentences)
    for one, other in zip(ours, theirs, strict=True):
        assert one.text == other.text
        assert one.ended
        assert other.ended
        assert one.score == pytest.approx(other.score, abs=0.01)


def test_ctranslate2_may_be_missing(marian: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    with pytest.raises(InputError, match="needs ctranslate2, which is not installed: pip install"):
        open_translator(TranslatorSettings(model=str(marian), backend="ctranslate2"))
