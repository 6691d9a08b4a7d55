"""Test that corpora and models in use prepare text alike."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import unicode_text
from paraphrastic_pipeline.corpus.filter_files import FilterFiles

from paraphrastic.model.average import AverageEncoder
from paraphrastic_pipeline.corpus.score import TextSettings, score_pairs
from paraphrastic_pipeline.corpus.select import select_pairs
from paraphrastic_pipeline.corpus.text import collapse_spaces


@pytest.mark.parametrize(
    ("language", "segmentation", "folding", "sentence"),
    [
        ("ar", {}, {"ar": "marks"}, "ٱلَّذِينَ يُؤۡمِنُونَ بِٱلۡغَيۡبِ كتـــاب"),
        ("ru", {}, {"ru": "yo"}, "Ёлка, всё и е\u0308ж ЕЩЁ зелёная"),
        ("tr", {}, {"tr": "dotted"}, "İSTANBUL IŞIK Diyarbakır I\u0307yi"),
        ("tr", {}, {"tr": "dotless"}, "İSTANBUL IŞIK Diyarbakır I\u0307yi"),
        ("zh", {"zh": "accurate"}, {}, "我来到北京清华大学，Hello World！ 他来到了网易杭研大厦"),
        ("zh", {"zh": "full"}, {}, "我来到北京清华大学，Hello World！ 他来到了网易杭研大厦"),
    ],
)
def test_corpora_and_models_prepare_odd_text_alike(
    tmp_path: Path, model: AverageEncoder, language, segmentation, folding, sentence
):
    odd = [f"{sentence[:2]} {text}" for text in unicode_text.texts(300, [sentence, "A plain SENTENCE"])]
    pq.write_table(
        pa.table({"source": odd, "target": ["text"] * len(odd), "line": range(1, len(odd) + 1)}),
        tmp_path / "pairs.parquet",
    )
    score_pairs(
        tmp_path / "pairs.parquet",
        tmp_path / "scored.parquet",
        languages=(language, "en"),
        identifier=None,
        word_vectors=None,
        text=TextSettings(segmentation=segmentation, folding=folding, lowercase=True),
    )
    select_pairs(
        [tmp_path / "scored.parquet"],
        FilterFiles(tmp_path / "selected.parquet", tmp_path / "counts.json", tmp_path / "dropped.tsv"),
        languages=(language, "en"),
        settings={},
        preparation={"segmentation": segmentation, "folding": folding, "lowercase": True},
        seed=1,
    )
    config = {**model.config, "segmentation": segmentation, "folding": folding, "lowercase": True}
    own = AverageEncoder(model.tensors(), model.sentencepiece, config)
    in_corpus = pq.read_table(tmp_path / "selected.parquet")["source"].to_pylist()
    assert in_corpus == collapse_spaces(own._prepare(odd, language))
    assert in_corpus != odd
