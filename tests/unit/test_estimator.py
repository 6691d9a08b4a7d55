"""Test the transformer for scikit-learn with its own checks, in pipelines, searches and processes."""

import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import check_estimator
from small_models import model_of

from paraphrastic import InputError, SentenceVectors, load_model

X = ["good film", "nice movie", "great cinema", "bad film", "awful movie", "terrible cinema"] * 4
Y = [1, 1, 1, 0, 0, 0] * 4
# Those that scikit-learn leaves out for estimators of text, and that need no numbers.
CHECKS = (
    "check_estimator_cloneable", "check_estimator_repr", "check_no_attributes_set_in_init",
    "check_parameters_default_constructible", "check_get_params_invariance", "check_set_params",
    "check_estimator_tags_renamed", "check_valid_tag_types",
)  # fmt: skip


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_it_passes_the_checks_of_scikit_learn() -> None:
    assert {check["status"] for check in check_estimator(SentenceVectors("en"))} == {"passed"}
    for check in CHECKS:
        getattr(estimator_checks, check)("SentenceVectors", SentenceVectors("en"))


def test_vectors_are_those_of_the_model() -> None:
    model = load_model("en")
    expected = model.embed_raw_text(X, normalize=True)
    for given in ("en", model):
        step = SentenceVectors(given, normalize=True)
        np.testing.assert_array_equal(step.transform(X), expected)
        np.testing.assert_array_equal(clone(step).fit_transform(pd.Series(X)), expected)
        np.testing.assert_array_equal(step.transform(pd.DataFrame({"text": X})), expected)
    with pytest.raises(ValueError, match=r"\(24, 2\)"):
        step.transform(pd.DataFrame({"text": X, "label": Y}))
    with pytest.raises(ValueError, match="not one string"):
        step.transform("good film")
    with pytest.raises(InputError, match="nowhere"):
        SentenceVectors("nowhere").fit(X)


def test_another_model_is_used_at_once() -> None:
    small = model_of()
    step = SentenceVectors("en").set_output(transform="pandas")
    assert list(step.fit_transform(X).columns)[-1] == "dimension299"
    for model in ("en-de-es-fr", small, None):
        step.set_params(model=model)
        names = step.get_feature_names_out()
        expected = (small if model is small else load_model(model)).embed_raw_text(X)
        assert len(names) == expected.shape[1]
        table = step.transform(X)
        np.testing.assert_array_equal(table, expected)
        assert list(table.columns) == list(names)
    # The same holds for a copy, and nothing is opened twice.
    copied = pickle.loads(pickle.dumps(step))
    first = copied.fit(X).model_
    np.testing.assert_array_equal(copied.transform(X), expected)
    assert copied.model_ is first
    copied.set_params(model="nowhere")
    with pytest.raises(InputError, match="nowhere"):
        copied.transform(X)


def test_models_are_searched_and_validated_in_other_processes() -> None:
    pipeline = make_pipeline(SentenceVectors("en", threads=1), LogisticRegression())
    with joblib.parallel_backend("multiprocessing"):
        assert cross_val_score(pipeline, X, Y, cv=3, n_jobs=2).mean() > 0.9
    grid = GridSearchCV(pipeline, {"sentencevectors__model": ["en", load_model("en-de-es-fr")]}, cv=2)
    grid.fit(X, Y)
    assert pickle.loads(pickle.dumps(grid)).predict(["a lovely film", "a horrible film"]).tolist() == [1, 0]
