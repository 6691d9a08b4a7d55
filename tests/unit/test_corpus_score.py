"""Test the scores of pairs, which are columns of a Parquet file."""

from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pair_files import write_pairs

from paraphrastic.base.errors import InputError
from paraphrastic.base.text import visible
from paraphrastic_pipeline.corpus import blocks
from paraphrastic_pipeline.corpus.readers import CorpusFile, extract_corpus
from paraphrastic_pipeline.corpus.score import SCORED_SCHEMA, TextSettings, _visible, score_pairs

NONE = {"identifier": None, "word_vectors": None}
PLAIN = TextSettings(segmentation={}, folding={}, lowercase=True)
SCORES = pa.array([0.25, 0.75], pa.float32())


def scored(tmp_path, pairs, languages, **settings):
    others = {name: settings.pop(name) for name in (*NONE, "shard") if name in settings}
    text = replace(PLAIN, **settings)
    score_pairs(pairs, tmp_path / "scored.parquet", languages=languages, text=text, **{**NONE, **others})
    return pq.read_table(tmp_path / "scored.parquet")


@pytest.mark.parametrize(
    ("language", "folding", "source", "target"),
    [
        ("ar", "marks", "بِسْمِ ٱللَّهِ ٱلرَّحْمَٰنِ", "بسم الله الرحمن"),
        ("ru", "yo", "Её ёлка ещё зелёная", "Ее елка еще зеленая"),
        ("tr", "dotted", "İyi günler İstanbul halkı", "iyi günler istanbul halkı"),
        ("tr", "dotless", "Kırmızı ışık çok yakın", "KIRMIZI IŞIK ÇOK YAKIN"),
        ("fr", "none", "Un cafe\u0301 s'il te plai\u0302t", "un café s'il te plaît"),
    ],
)
def test_sides_that_are_written_alike_are_the_same(tmp_path, language, folding, source, target):
    pairs = write_pairs(tmp_path / "p", [(source, target)])
    modes = {} if folding == "none" else {language: folding}
    table = scored(tmp_path, pairs, (language, language), folding=modes)
    assert table["source"].to_pylist() == [source]
    assert table["trigram_overlap"].to_pylist() == [1]
    assert table["changed_words"].to_pylist() == [0]


def test_without_models_only_what_needs_none_is_scored(tmp_path):
    pairs = write_pairs(tmp_path / "p", [("Eine  Katze .", "A cat."), ("", " ")])
    table = scored(tmp_path, pairs, ("de", "en"))
    assert table.schema == SCORED_SCHEMA
    assert table["source"].to_pylist() == ["Eine  Katze .", ""]
    assert table["source_tokens"].to_pylist() == [3, 0]
    assert table["target_tokens"].to_pylist() == [2, 0]
    assert table["line"].to_pylist() == [1, 2]
    assert table["source_characters"].to_pylist() == [0, 0]
    for name in SCORED_SCHEMA.names[7:]:
        assert table[name].to_pylist() == [None, None], name


def test_overlap_is_of_paraphrases_only(tmp_path):
    pairs = write_pairs(tmp_path / "p", [("a b c d", "A b c")])
    assert scored(tmp_path, pairs, ("en", "en"))["trigram_overlap"].to_pylist() == [1]
    assert scored(tmp_path, pairs, ("en", "de"))["trigram_overlap"].to_pylist() == [None]


def test_own_score_unless_there_are_word_vectors(tmp_path):
    pairs = write_pairs(tmp_path / "p", [("cat", "cat"), ("cat", "what")], paraphrase_score=SCORES)
    assert scored(tmp_path, pairs, ("en", "en"))["paraphrase_score"].to_pylist() == [0.25, 0.75]
    vectors = tmp_path / "v.txt"
    vectors.write_text("cat 1 2\n")
    table = scored(tmp_path, pairs, ("en", "en"), word_vectors=vectors)
    assert table.schema == SCORED_SCHEMA
    assert table["paraphrase_score"].to_pylist() == [pytest.approx(1), None]


def test_translation_scores_are_passed_on(tmp_path):
    pairs = write_pairs(tmp_path / "p", [("cat", "cat"), ("cat", "what")], paraphrase_score=SCORES)
    table = pq.read_table(pairs).append_column("translation_score", pa.array([-1.5, -2.5], pa.float32()))
    pq.write_table(table, pairs)
    table = scored(tmp_path, pairs, ("en", "en"))
    assert table["translation_score"].to_pylist() == [-1.5, -2.5]
    assert table["paraphrase_score"].to_pylist() == [0.25, 0.75]


def test_chinese_is_segmented_after_its_language_is_identified(tmp_path, mirror):
    lid = mirror / "dl.fbaipublicfiles.com/fasttext/supervised-models/lid.176.ftz"
    pairs = write_pairs(tmp_path / "p", [("We came to Tsinghua University.", "我们来到清华大学。")])
    plain = scored(tmp_path, pairs, ("en", "zh"), identifier=lid)
    table = scored(tmp_path, pairs, ("en", "zh"), identifier=lid, segmentation={"zh": "accurate"})
    assert plain["target"].to_pylist() == ["我们来到清华大学。"]
    assert plain["target_tokens"].to_pylist() == [8]
    assert plain["target_characters"].to_pylist() == [8]
    # The text itself is segmented when it is selected.
    assert table["target"].to_pylist() == plain["target"].to_pylist()
    assert table["target_tokens"].to_pylist() == [8]
    assert table["target_language"].to_pylist() == ["zh"]
    assert table["target_confidence"] == plain["target_confidence"]
    assert table["source"].to_pylist() == ["We came to Tsinghua University."]
    settings = {"identifier": lid, "segmentation": {"zh": "accurate"}, "words": "white_space"}
    paper = scored(tmp_path, pairs, ("en", "zh"), **settings)
    assert paper["target_tokens"].to_pylist() == [4]
    assert paper["target_characters"].to_pylist() == [0]
    full = scored(tmp_path, pairs, ("en", "zh"), segmentation={"zh": "full"}, words="white_space")
    assert full["target_tokens"].to_pylist() == [7]


@pytest.mark.parametrize(("tokenizer", "overlap"), [("word", 1), ("treebank", 0)])
def test_only_the_papers_tokenizer_tells_how_an_accent_is_written(tmp_path, tokenizer, overlap):
    pairs = write_pairs(tmp_path / "p", [("the old cafe\u0301 is open", "old café is open")])
    table = scored(tmp_path, pairs, ("en", "en"), overlap_tokenizer=tokenizer)
    assert table["trigram_overlap"].to_pylist() == [overlap]


def test_small_blocks_give_the_same_bytes(tmp_path, mirror, monkeypatch):
    models = {
        "identifier": mirror / "dl.fbaipublicfiles.com/fasttext/supervised-models/lid.176.ftz",
        "word_vectors": mirror / "www.cs.cmu.edu/~jwieting/paragram-phrase.txt.gz",
    }
    folder = mirror / "raw.githubusercontent.com/multi30k/dataset/master/data/task2/raw"
    files = [CorpusFile(folder / f"val.{n}.en.gz", ("en",)) for n in (1, 2)]
    pairs = tmp_path / "pairs.parquet"
    extract_corpus("captions", files, ("en", "en"), pairs)
    pq.write_table(pq.read_table(pairs).slice(0, 150), pairs)
    table = scored(tmp_path, pairs, ("en", "en"), **models)
    written = (tmp_path / "scored.parquet").read_bytes()
    monkeypatch.setattr(blocks, "READ_ROWS", 3)
    assert scored(tmp_path, pairs, ("en", "en"), **models) == table
    assert (tmp_path / "scored.parquet").read_bytes() == written
    assert table.num_rows == 150
    assert table["source_language"].to_pylist().count("en") > 140
    assert sum(score > 0.5 for score in table["paraphrase_score"].to_pylist() if score) > 30


TITLES = [
    ("We have to close the shop at six.", "WIR MÜSSEN DAS GESCHÄFT UM SECHS UHR SCHLIESSEN."),
    ("Please do not leave your luggage here.", "BITTE LASSEN SIE IHR GEPÄCK NICHT HIER STEHEN."),
]


def test_capitals_are_identified_as_the_model_sees_them(tmp_path, mirror):
    lid = mirror / "dl.fbaipublicfiles.com/fasttext/supervised-models/lid.176.ftz"
    pairs = write_pairs(tmp_path / "p", TITLES)
    table = scored(tmp_path, pairs, ("en", "de"), identifier=lid)
    assert table["target_language"].to_pylist() == ["de", "de"]
    assert min(table["target_probability"].to_pylist()) > 0.9
    assert table["target"].to_pylist() == [target for _, target in TITLES]
    original = scored(tmp_path, pairs, ("en", "de"), identifier=lid, identify="original")
    assert max(original["target_probability"].to_pylist()) < 0.5


def test_vowel_marks_are_folded_before_the_language_is_identified(tmp_path, mirror):
    lid = mirror / "dl.fbaipublicfiles.com/fasttext/supervised-models/lid.176.ftz"
    pairs = write_pairs(tmp_path / "p", [("إِيَّاكَ نَعْبُدُ وَإِيَّاكَ نَسْتَعِينُ", "You alone do we worship.")])
    table = scored(tmp_path, pairs, ("ar", "en"), identifier=lid, folding={"ar": "marks"})
    assert table["source_probability"][0].as_py() > 0.5


def test_labels_that_stand_for_a_language_are_added_up(tmp_path, mirror):
    lid = mirror / "dl.fbaipublicfiles.com/fasttext/supervised-models/lid.176.ftz"
    pairs = write_pairs(
        tmp_path / "p", [("我们来到清华大学。", "Jeg vil gjerne lære norsk, men det er vanskelig å snakke.")]
    )
    table = scored(tmp_path, pairs, ("cmn", "nb"), identifier=lid)
    assert table["source_probability"][0].as_py() > 0.5
    assert table["target_probability"][0].as_py() > 0.5
    unknown = scored(tmp_path, pairs, ("cmn", "xx"), identifier=lid)
    assert unknown["target_language"].to_pylist() == ["no"]
    assert unknown["target_probability"].to_pylist() == [None]


JAPANESE = ["先生は黒板に字を書きます。", "元気 です か", "寒すぎて\u200b外に出られませんでした。"]


def test_characters_are_counted_in_scripts_without_spaces(tmp_path):
    pairs = write_pairs(tmp_path / "p", [("How are you?", text) for text in JAPANESE])
    table = scored(tmp_path, pairs, ("en", "ja"))
    assert table["target_tokens"].to_pylist() == [12, 5, 15]
    assert table["target_characters"].to_pylist() == [12, 5, 15]
    assert table["source_characters"].to_pylist() == [0, 0, 0]
    paper = scored(tmp_path, pairs, ("en", "ja"), words="white_space")
    assert paper["target_tokens"].to_pylist() == [1, 3, 2]


def test_overlap_of_paraphrases_without_spaces(tmp_path):
    pairs = write_pairs(
        tmp_path / "p", [("彼は本を読みます", "彼は紙を読みます"), ("彼は 本を読む", "彼は本を読む")]
    )
    table = scored(tmp_path, pairs, ("ja", "ja"))
    assert table["changed_words"].to_pylist() == [1, 0]
    assert table["trigram_overlap"].to_pylist() == [pytest.approx(0.5), 1]
    paper = scored(tmp_path, pairs, ("ja", "ja"), words="white_space")
    assert paper["trigram_overlap"].to_pylist() == [0, 0]


@pytest.mark.parametrize("text", ["", "\u200c", "\ufeff \u200b", "\x00\x01"])
def test_text_that_nobody_sees_has_no_words(tmp_path, text):
    table = scored(tmp_path, write_pairs(tmp_path / "p", [("one two", text)]), ("en", "de"))
    assert table["target_tokens"].to_pylist() == [0]


@pytest.mark.parametrize(
    "texts",
    [
        ["plain", ""],
        ["a\x7fb", "plain"],
        ["a\x1fb"],
        ["before", "\u200bat the beginning", "", "at the end\u200b", "after"],
        ["ä", "\u00ad", "\u00ad\u2066x"],
    ],
)
def test_what_nobody_sees_is_left_out_of_the_texts_that_have_it(texts):
    array = pa.array(["\u200b", *texts, "\x01"])
    assert _visible(array).to_pylist() == visible(array.to_pylist())
    assert _visible(pa.array(texts)).to_pylist() == visible(texts)
    # The texts of a slice do not begin at the first byte.
    assert _visible(array[1:-1]).to_pylist() == visible(texts)


def test_rows_that_were_unreadable_are_noted_in_the_first_shard_alone(tmp_path):
    with blocks.write_blocks(tmp_path / "p", blocks.PAIR_SCHEMA) as writer:
        writer.write(pa.record_batch([["a"], ["b"], [1]], schema=blocks.PAIR_SCHEMA))
        writer.note("unreadable", 3)
    counts = []
    for number in (1, 2):
        scored(tmp_path, tmp_path / "p", ("de", "en"), shard=(number, 2))
        counts.append(blocks.noted(tmp_path / "scored.parquet", "unreadable"))
    assert counts == [3, 0]


def test_damaged_pairs(tmp_path):
    path = tmp_path / "pairs.parquet"
    path.write_bytes(b"PAR1 nothing")
    with pytest.raises(InputError, match=r"pairs\.parquet: not readable as Parquet"):
        score_pairs(path, tmp_path / "out", languages=("en", "de"), text=PLAIN, **NONE)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_shards_are_the_corpus_in_parts(tmp_path, count):
    pairs = write_pairs(tmp_path / "p", [(f"Satz {n}.", f"Sentence {n}.") for n in range(50)])
    pq.write_table(pq.read_table(pairs), pairs, row_group_size=12)  # five row groups
    whole = scored(tmp_path, pairs, ("de", "en"))
    shards = [scored(tmp_path, pairs, ("de", "en"), shard=(i + 1, count)) for i in range(count)]
    assert pa.concat_tables(shards).equals(whole)
    assert max(shard.num_rows for shard in shards) <= 12 * -(-5 // count)
