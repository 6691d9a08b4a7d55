"""Test that MTEB runs on a model's folder without a network."""

from pathlib import Path
from typing import Any

import pytest
from scipy import stats
from small_models import model_of

from paraphrastic.interop import formats

PAIRS = [
    ("All human beings are free.", "All human beings are born free.", 4.5),
    ("They are endowed with reason.", "They are endowed with reason and conscience.", 4.0),
    ("A man sings on the street.", "A man with a guitar sings on the street.", 3.5),
    ("Two dogs run.", "The cat sits on the mat.", 0.5),
    ("the cat", "THE CAT", 5.0),
    ("Alle Menschen sind frei.", "Two dogs run through the snow.", 0.0),
]


def task() -> Any:
    import datasets
    from mteb.abstasks.sts import AbsTaskSTS
    from mteb.abstasks.task_metadata import TaskMetadata

    class Pairs(AbsTaskSTS):
        metadata = TaskMetadata(
            name="Pairs",
            description="Pairs of sentences.",
            type="STS",
            main_score="cosine_spearman",
            dataset={"path": "pairs", "revision": "1"},
            eval_splits=["test"],
            eval_langs=["eng-Latn"],
            category="t2t",
        )

        def load_data(self, *_: Any, **__: Any) -> None:
            first, second, scores = zip(*PAIRS, strict=True)
            rows = {"sentence1": first, "sentence2": second, "score": scores}
            self.dataset = datasets.DatasetDict(test=datasets.Dataset.from_dict(rows))
            self.data_loaded = True

    return Pairs()


# Importing it takes ten seconds, so it is not imported at the top.
@pytest.mark.slow("imports all tasks of MTEB")
def test_mteb_has_our_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mteb = pytest.importorskip("mteb", reason="mteb is not installed")
    sentence_transformers = pytest.importorskip(
        "sentence_transformers", reason="sentence-transformers is not installed"
    )
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    model = model_of()
    formats.write_folder(model, tmp_path / "en")
    transformer = sentence_transformers.SentenceTransformer(str(tmp_path / "en"), device="cpu")
    found = mteb.evaluate(transformer, task(), cache=None, co2_tracker=False, show_progress_bar=False)
    (scores,) = found.task_results[0].scores["test"]
    ours = model.score_raw_text([(first, second) for first, second, _ in PAIRS])
    gold = [score for *_, score in PAIRS]
    assert scores["cosine_pearson"] == pytest.approx(stats.pearsonr(ours, gold).statistic, abs=1e-5)
    assert scores["main_score"] == pytest.approx(stats.spearmanr(ours, gold).statistic, abs=1e-5)
