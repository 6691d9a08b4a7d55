"""Test that a model in use sees the text that it was trained on, in every shipped configuration."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from catalogue import of, shipped_results
from configurations import ROOT
from hard_texts import TEXTS
from small_models import model_of

from paraphrastic import load_model
from paraphrastic.base.text import collapse_spaces
from paraphrastic.model.encoder import SentenceEncoder
from paraphrastic.model.files import ModelFiles
from paraphrastic_pipeline.corpus.filter_files import FilterFiles
from paraphrastic_pipeline.corpus.score import TextSettings, score_pairs
from paraphrastic_pipeline.corpus.select import select_pairs
from paraphrastic_pipeline.settings.declared import as_json

CONFIGURATIONS = sorted(
    path.relative_to(ROOT / "config").with_suffix("").as_posix()
    for folder in ("", "papers")
    for path in (ROOT / "config" / folder).glob("*.yaml")
)
# With the hard texts, these are cut or folded by some configurations, and only in some languages.
MORE = [
    "我来到北京清华大学，Hello World！ 他穿T恤", "hi there，you", "don't write 中 on the wall",
    "İzmir'de 東京 ve Ёлка", "先生は黒板に字を書きます。", "中国사람", "ٱلَّذِينَ يُؤۡمِنُونَ كتـــاب",
    "IŞIK ve I\u0307yi",
]  # fmt: skip
SENTENCES = [*(each.text.replace("\r", " ") for each in TEXTS), *MORE]


def trained_on(folder: Path, languages: tuple[str, str], text: dict[str, Any], preparation: Any) -> Any:
    """What the selection makes of the sentences, as both sides of a pair of languages."""
    table = pa.table({"source": SENTENCES, "target": SENTENCES, "line": range(1, len(SENTENCES) + 1)})
    pq.write_table(table, folder / "pairs.parquet")
    score_pairs(
        folder / "pairs.parquet", folder / "scored.parquet", languages=languages, identifier=None,
        word_vectors=None, text=TextSettings(**preparation, words=text["words"], identify=text["identify"]),
    )  # fmt: skip
    select_pairs(
        [folder / "scored.parquet"],
        FilterFiles(folder / "selected.parquet", folder / "counts.json", folder / "dropped.tsv"),
        languages=languages, settings={}, preparation=preparation, seed=1,
    )  # fmt: skip
    selected = pl.read_parquet(folder / "selected.parquet")
    assert len(selected) == len(SENTENCES)
    return selected["source"].to_list(), selected["target"].to_list()


def opened(folder: Path, config: dict[str, Any]) -> SentenceEncoder:
    """A model with random numbers, from a folder with these entries in its config.json."""
    base = model_of()
    proto = base.processor.serialized_model_proto()
    ModelFiles(base.kind, base.dim, base.tensors(), proto, config).write(folder)
    return load_model(folder)


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_a_model_sees_the_text_that_it_was_trained_on(tmp_path: Path, name: str) -> None:
    models = shipped_results(name).evaluations.models
    seen = set[str]()
    for model in models.corpus_models:
        about, preparation = models.about(of(model=model)), models.preparation(of(model=model))
        for _, languages in models.corpus_pairs[model]:
            if (key := json.dumps([preparation, languages])) in seen:
                continue
            seen.add(key)
            # A Transformer prepares text by the same entries.
            about = {**about, "unit": "subword"}
            used = opened(tmp_path / "model", about)
            # A model that changes nothing shows the vectors of the text as it was trained.
            unchanged = {"segmentation": {}, "folding": {}, "lowercase": False}
            plain = opened(tmp_path / "plain", {**about, **unchanged})
            sides = trained_on(tmp_path, languages, as_json(models.config.text), preparation)
            for side, language in zip(sides, languages, strict=True):
                assert collapse_spaces(used._prepare(SENTENCES, language)) == side, (model, language)
                vectors = used.embed_raw_text(SENTENCES, language=language)
                np.testing.assert_array_equal(vectors, plain.embed_raw_text(side))
    assert seen


def test_chinese_is_segmented_as_the_papers_do_in_their_configurations_alone() -> None:
    modes = {
        name: shipped_results(name).evaluations.models.config.text.segmentation.zh for name in CONFIGURATIONS
    }
    assert {name for name, mode in modes.items() if mode != "none"} == {"paper", "papers/simple_effective"}
