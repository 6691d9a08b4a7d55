"""A model as a transformer of scikit-learn, for pipelines, grid searches and cross-validation."""

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from paraphrastic.model.encoder import SentenceEncoder, as_list
from paraphrastic.model.folder import choose_folder, open_folder


class SentenceVectors(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turns sentences into vectors, [n, dim], as a step of a scikit-learn pipeline.

    Args:
        model: a model, its folder, or the name of one that comes with the package; None as in `load_model`. A
            grid search can try several. Another one, set with `set_params`, is used at once.
        language: language of the sentences; see `SentenceEncoder.embed_raw_text`.
        normalize: scale vectors to length 1.
        threads: CPU threads; None uses all cores. With `n_jobs`, give each process few of them.

    Attributes:
        model_: the model, after `fit` or the first `transform`.
        n_features_out_: the dimension of its vectors.
    """

    def __init__(
        self,
        model: SentenceEncoder | str | None = None,
        *,
        language: str | None = None,
        normalize: bool = False,
        threads: int | None = None,
    ) -> None:
        self.model = model
        self.language = language
        self.normalize = normalize
        self.threads = threads

    def fit(self, X: Iterable[str], y: object = None) -> Self:  # noqa: N803 (scikit-learn's name)
        """Open the model; nothing is learned from the sentences.

        Raises:
            InputError: the model cannot be opened.
        """
        model = self.model
        self.model_ = model if isinstance(model, SentenceEncoder) else open_folder(choose_folder(model))
        self.n_features_out_, self._opened = self.model_.dim, model
        return self

    def transform(self, X: Iterable[str]) -> npt.NDArray[Any]:  # noqa: N803
        """Vectors of sentences, [n, dim]; see `SentenceEncoder.embed_raw_text`. No `fit` is needed before."""
        return self._current().embed_raw_text(
            _sentences(X), language=self.language, normalize=self.normalize, threads=self.threads
        )

    def _current(self) -> SentenceEncoder:
        """The model, which is opened if that has not been done, or was done for another one."""
        if not hasattr(self, "model_") or self._opened != self.model:
            self.fit(())
        return self.model_

    def get_feature_names_out(self, input_features: object = None) -> npt.NDArray[np.object_]:
        """The names of the columns: `dimension0`, `dimension1`, …"""
        check_is_fitted(self)
        return np.array([f"dimension{number}" for number in range(self._current().dim)], object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = True, False
        tags.input_tags.one_d_array = True
        tags.requires_fit = False
        return tags


def _sentences(given: Iterable[str]) -> Sequence[str]:
    """Sentences from a list, an array, or a column of a table."""
    if isinstance(given, str):
        raise ValueError("SentenceVectors takes an iterable of sentences, not one string")
    shape = getattr(given, "shape", ())
    if len(shape) > 1 and shape[1:] != (1,):
        raise ValueError(f"SentenceVectors takes one column of sentences, not an array of the shape {shape}")
    return as_list(np.asarray(given, object).ravel() if len(shape) > 1 else given)
