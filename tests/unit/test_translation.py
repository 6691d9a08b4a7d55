"""Test back-translation with a tiny Marian, and what becomes of bad translations."""

import json
import sys
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from pair_files import filter_files, read_tsv, write_pairs
from small_corpus import sentence_pairs
from tiny_transformer import write_marian
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.corpus import translation
from paraphrastic_pipeline.corpus.translation import (
    TOO_LONG,
    TRANSLATED_SCHEMA,
    gather_translations,
    open_translator,
    translate_corpus,
)

PAIRS = [(target, source) for source, target in sentence_pairs(60)]


def test_translations_and_scores_are_those_of_a_greedy_search(tmp_path, monkeypatch):
    pytest.importorskip("ctranslate2", reason="CTranslate2 is not installed")
    folder = write_marian(tmp_path / "marian", PAIRS, steps=40)
    translate = open_translator(str(folder), beam=1)
    sentences = [source for source, _ in PAIRS[:6]]
    found = translate([*sentences, "wort " * 200])
    assert found.pop() == TOO_LONG
    model: Any = AutoModelForSeq2SeqLM.from_pretrained(folder)
    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    for sentence, each in zip(sentences, found, strict=True):
        inputs = tokenizer([sentence], return_tensors="pt")
        out = model.generate(**inputs, num_beams=1, max_new_tokens=100, do_sample=False)
        assert each[0] == tokenizer.decode(out[0], skip_special_tokens=True)
        assert each[2]
        logits = model(**inputs, decoder_input_ids=out[:, :-1]).logits[0]
        scores = torch.log_softmax(logits, -1).gather(1, out[0, 1:, None])
        assert each[1] == pytest.approx(scores.mean().item(), abs=0.01)
    # A sentence that is just short enough is translated, and a translation that does not end is cut off.
    inputs = tokenizer(sentences[:1], return_tensors="pt")
    length = inputs["input_ids"].shape[1]
    monkeypatch.setattr(translation, "MAX_TOKENS", length - 1)
    assert translate(sentences[:1]) == [TOO_LONG]
    monkeypatch.setattr(translation, "MAX_TOKENS", length)
    assert translate(sentences[:1])[0][0] == found[0][0]
    monkeypatch.setattr(translation, "MORE_TOKENS", 5 - 2 * length)
    ((text, _, ended),) = translate(sentences[:1])
    out = model.generate(**inputs, num_beams=1, max_new_tokens=5)
    assert text == tokenizer.decode(out[0], skip_special_tokens=True)
    assert not ended
    with pytest.raises(InputError, match=r"empty: "):
        open_translator(str(tmp_path / "empty"))


def test_ctranslate2_may_be_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    with pytest.raises(InputError, match=r"nobody/nothing.*ctranslate2"):
        open_translator("nobody/nothing")


def test_a_corpus_is_translated_in_blocks_and_shards(tmp_path, monkeypatch):
    monkeypatch.setattr(translation, "BLOCK_PAIRS", 10)
    calls = []

    def translate(sentences):
        calls.append(list(sentences))
        return [(f"{text} again", -0.5, True) if text else TOO_LONG for text in sentences]

    monkeypatch.setattr(translation, "open_translator", lambda **_: translate)

    def translated(**shard):
        translate_corpus(tmp_path / "pairs", tmp_path / "out", translator={}, **shard)
        return pq.read_table(tmp_path / "out")

    sides = [(["same", "", f"a {row}"][row % 3], f"b {row}") for row in range(45)]
    write_pairs(tmp_path / "pairs", sides, row_groups=20)
    whole = translated()
    # A sentence that recurs in a block is translated once.
    assert calls[0] == ["same", "", "a 2", "a 5", "a 8"]
    assert len(calls) == 5
    assert whole.schema == TRANSLATED_SCHEMA
    assert [tuple(row.values()) for row in whole.to_pylist()] == [
        (target, f"{source} again" if source else None, row, -0.5 if source else None, bool(source))
        for row, (source, target) in enumerate(sides, start=1)
    ]
    assert pa.concat_tables(translated(shard=(number, 4)) for number in range(1, 5)) == whole


def gathered(folder, rows):
    """The counts and the pairs of translations, which are in two shards."""
    columns = [*zip(*((*row[:2], n, *row[2:]) for n, row in enumerate(rows)), strict=True)]
    arrays = [pa.array(column, kind) for column, kind in zip(columns, TRANSLATED_SCHEMA.types, strict=True)]
    table, shards = pa.table(arrays, schema=TRANSLATED_SCHEMA), [folder / "1", folder / "2"]
    pq.write_table(table.slice(0, 1), shards[0])
    pq.write_table(table.slice(1), shards[1])
    files = filter_files(folder)
    result = gather_translations(shards, *files, seed=1)
    assert result == json.loads(files.counts.read_text())
    return result, [tuple(row.values()) for row in pq.read_table(files.pairs).to_pylist()]


def test_bad_translations_are_counted_by_reason(tmp_path):
    rows = [
        ("a", "good one", -0.1, True),
        ("b", " ?! ", -0.2, True),
        ("c", "", -0.3, False),
        ("d", None, None, False),
        ("e", "good two", -0.4, True),
    ]
    counts, pairs = gathered(tmp_path, rows)
    assert counts == {"read": 5, "too_long": 1, "endless": 1, "empty": 1, "pairs": 2}
    assert pairs == [("a", "good one", 1, -0.1), ("e", "good two", 5, -0.4)]
    shown = [(row["kind"], row["source"]) for row in read_tsv(tmp_path / "examples.tsv")]
    assert shown == [("too_long", "d"), ("endless", "c"), ("empty", "b"), ("kept", "a"), ("kept", "e")]
    (tmp_path / "out.parquet").unlink()
    with pytest.raises(InputError, match=r"none of 3 .*too_long 1, endless 1, empty 1$"):
        gathered(tmp_path, rows[1:4])
    assert not (tmp_path / "out.parquet").exists()
