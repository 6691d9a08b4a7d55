"""Transfer tasks: how well sentence vectors predict classes of sentences or relations of pairs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import BaseCrossValidator, PredefinedSplit, StratifiedKFold
from threadpoolctl import threadpool_limits

from paraphrastic.base.arrays import Float32, Int64
from paraphrastic.model.encoder import Encoder, finite_vectors
from paraphrastic_pipeline.evaluation.figures import (
    Data,
    Figures,
    correlations,
    mean_of,
    precision_recall_f1,
    share,
)
from paraphrastic_pipeline.evaluation.networks import (
    SEED,
    Classes,
    pair_features,
    predict_classes,
    predict_scores,
    toolkit_order,
)
from paraphrastic_pipeline.evaluation.testsets import read_testsets
from paraphrastic_pipeline.evaluation.transfer_data import (
    LANGUAGES,
    PARTS,
    TRANSFER_TASKS,
    Suite,
    TransferTask,
    transfer_digest,
)

FOLDS = StratifiedKFold(10, shuffle=True, random_state=SEED)
# Values of C, the inverse of the penalty.
STRENGTHS = tuple(2.0**power for power in range(-2, 4))
# Values of C if the training data are cross-validated and the test data are separate.
FOLD_STRENGTHS = tuple(2.0**power for power in range(-1, 6))
# Values of λ, the weight decay of networks.
PENALTIES = (1e-5, 1e-4, 1e-3, 1e-2)
# With scikit-learn's own tolerance, one prediction in a thousand is another one.
_TOLERANCE, _MAX_STEPS = 1e-5, 2000


def evaluate_transfer(
    encoder: Encoder, testsets: Path, *, suite: Suite, tasks: Sequence[str] | None = None
) -> Figures:
    """Evaluate on the tasks of a suite.

    `senteval` (Conneau and Kiela 2018; Wieting and Gimpel 2018, Table 8) measures the `accuracy` on MR, CR,
    SUBJ, MPQA, SST-2, TREC, MRPC and SICK-E, `f1 MRPC`, `pearson SICK-R` and `spearman SICK-R`. `polish`
    (Dadas 2022, Table I) measures the `accuracy` on PPC, CR-H, CR-M, CDSC-E, SICK-E and 8TAGS, `pearson` and
    `spearman` on CDSC-R and SICK-R, and `avg`, the mean of the accuracies and of Spearman's ρ. The data set
    of a task has its sizes and what was chosen. `testsets` is a file of `prepare_transfer`; `tasks` names
    some tasks of the suite, or is None for all.
    """
    everything = read_testsets(testsets)
    chosen = [task for task in TRANSFER_TASKS[suite] if tasks is None or task.name in tasks]
    figures: Figures = {}
    for dataset in dict.fromkeys(task.dataset for task in chosen):
        rows = everything[everything.dataset == dataset]
        features = _features(encoder, rows, LANGUAGES[suite], f"{testsets}: {dataset}")
        for task in (task for task in chosen if task.dataset == dataset):
            at = f"{testsets}: {dataset}: {encoder.label}: {task.name}"
            figures |= _evaluate(task, rows, features, suite, at)
    if suite == "polish" and tasks is None:
        averaged = [f"{'accuracy' if task.classes else 'spearman'} {task.name}" for task in chosen]
        figures["avg"] = mean_of([figures[name] for name in averaged])
    return figures


def _features(encoder: Encoder, rows: pd.DataFrame, language: str, at: str) -> Float32:
    """Features of the rows, [n, d]: a sentence's vector, or the `pair_features` of two vectors."""
    columns = [column for column in (rows.sentence1, rows.sentence2) if column.notna().all()]
    numbers, sentences = pd.factorize(pd.concat(columns))
    vectors = finite_vectors(encoder, list(sentences), language, name=at)
    first, *second = (vectors[side] for side in numbers.reshape(len(columns), -1))
    return pair_features(first, second[0]) if second else first


def _evaluate(task: TransferTask, rows: pd.DataFrame, features: Float32, suite: Suite, at: str) -> Figures:
    """The figures of a task."""
    gold = (rows.label if task.classes else rows.score).to_numpy()
    order = toolkit_order(rows, gold)
    of_parts = {name: order[(rows.part == name).to_numpy()[order]] for name in PARTS}
    parts: dict[str, Any] = {
        name: (features[some], gold[some]) for name, some in of_parts.items() if len(some)
    }
    about: dict[str, Any] = {"n": {name: len(of_part) for name, (_, of_part) in parts.items()}}
    data = [Data(name=task.name, digest=transfer_digest(task, rows), about=about)]
    tested, tested_gold = parts["all" if "all" in parts else "test"]
    train, dev = (parts.get(name, ()) for name in ("train", "dev"))
    if not task.classes:
        scores = predict_scores(train, dev, tested, at=at)
        return correlations(task.name, scores, tested_gold, data=data, at=at)
    if "all" in parts:
        found = nested_cross_validation(parts["all"])
    elif not dev:
        found = cross_validation(train, tested)
    else:
        validation = split_validation if suite == "senteval" else network_validation
        found = validation(train, dev, tested)
    about["chosen"] = found.chosen
    figures = {f"accuracy {task.name}": share(found.predicted == tested_gold, seed=task.name, data=data)}
    if task.name == "MRPC":
        columns = (found.predicted & tested_gold, found.predicted, tested_gold)
        counts = np.stack(columns, axis=1, dtype=np.float64)
        figures["f1 MRPC"] = precision_recall_f1(counts, seed=task.name, data=data)["f1"]
    return figures


# SentEval's protocols for choosing a classifier's penalty and for testing it (Conneau and Kiela 2018).
# Rows are features [n, d] with their classes, 0 to c - 1.


class Classified(NamedTuple):
    """Predicted classes of the tested rows, and the chosen C or λ, of each fold if there are folds."""

    predicted: Int64
    chosen: list[float]


def nested_cross_validation(rows: Classes) -> Classified:
    """Test each fold with a regression trained on the other nine; cross-validation of these chooses its C."""
    features, labels = rows
    predicted, chosen = np.zeros_like(labels), list[float]()
    for train, test in FOLDS.split(*rows):
        found = _regression((features[train], labels[train]), features[test], STRENGTHS, FOLDS)
        predicted[test] = found.predicted
        chosen += found.chosen
    return Classified(predicted, chosen)


def cross_validation(train: Classes, test: Float32) -> Classified:
    """Test a regression trained on all training rows; cross-validation of these rows chooses its C."""
    return _regression(train, test, FOLD_STRENGTHS, FOLDS)


def split_validation(train: Classes, dev: Classes, test: Float32) -> Classified:
    """Test a regression with the C that is best on `dev`, which it is not trained on."""
    rows = np.concatenate([train[0], dev[0]]), np.concatenate([train[1], dev[1]])
    split = PredefinedSplit(np.repeat([-1, 0], [len(train[1]), len(dev[1])]))
    return _regression(rows, test, STRENGTHS, split, refit=False)


def _regression(
    rows: Classes, test: Float32, strengths: Sequence[float], folds: BaseCrossValidator, *, refit: bool = True
) -> Classified:
    """Test a regression with the C that is best over folds; it is trained on all rows if it is fitted again.

    The objective is C times the sum of the rows' cross-entropies plus half the squared weights; the intercept
    is not penalised.
    """
    model = LogisticRegressionCV(
        Cs=strengths,
        cv=folds,
        scoring="accuracy",
        refit=refit,
        tol=_TOLERANCE,
        max_iter=_MAX_STEPS,
        l1_ratios=(0,),
        use_legacy_attributes=False,
    )
    # For so few rows, more threads take longer.
    with threadpool_limits(1):
        model.fit(rows[0].astype(np.float64), rows[1])
        predicted = model.predict(test)
    return Classified(predicted, [float(model.C_)])


def network_validation(train: Classes, dev: Classes, test: Float32) -> Classified:
    """Test a network with one hidden layer and the λ that is best on `dev` (Dadas 2022, section V)."""
    found = [predict_classes(train, dev, test, penalty=penalty) for penalty in PENALTIES]
    best = int(np.argmax([accuracy for _, accuracy in found]))
    return Classified(found[best][0], [PENALTIES[best]])
