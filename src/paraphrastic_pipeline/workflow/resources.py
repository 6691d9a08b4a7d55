"""The memory and time that jobs ask for.

The figures are about 1.5 times the peak memory, and four times the time, that were measured with
`config/small.yaml` and with 10 million pairs of sentences. Each further attempt adds half of them.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple


class Resources(NamedTuple):
    """MB and minutes of a job, and what each MB of its input adds to them, up to `largest` MB."""

    mb: int = 500
    minutes: int = 3
    mb_per_mb: float = 0.0
    minutes_per_mb: float = 0.0
    largest: float = math.inf


_SMALL = Resources()
_TABLE = {
    "download_file": Resources(300, 60),
    "extract_corpus": Resources(900, 10, 0, 0.01),
    "score_pairs": Resources(1600, 10, 0, 0.1),
    # A ranking of the whole corpus holds its scores in memory.
    "select_pairs": Resources(900, 10, 0.3, 0.01),
    "gather_testsets": Resources(700),
    "mark_contamination": Resources(1000, 10, 0, 0.03),
    "hold_out_pairs": Resources(1000, 10, 1.5, 0.01),
    "merge_pairs": Resources(1000, 10, 0, 0.01),
    "describe_corpus": Resources(900, 10, 0, 0.01),
    "tabulate_corpora": Resources(800),
    "sample_paraphrases": Resources(1400, 10, 0, 0.02),
    "measure_similarity": Resources(3000, 60, 0, 1),
    "translate_corpus": Resources(4000, 60, 0, 60),
    "gather_translations": Resources(1000, 10, 0, 0.1),
    # sentencepiece holds the sentences that it is trained on, of which there are at most 10 million.
    "train_vocabulary": Resources(400, 10, 90, 0.05, largest=250),
    "tokenize_pairs": Resources(1300, 10, 0, 0.03),
    "encode_dataset": Resources(700, 10, 0, 0.03),
    "fit_tables": Resources(3000, 180),
    "initialize_model": Resources(2500, 5),
    # A table of 50,000 rows of 1,024 dimensions and its optimizer, and a window of a million pairs.
    "train_model": Resources(3500, 20, 0.5, 2),
    "train_transformer": Resources(8000, 600, 0.5, 60),
    "average_runs": Resources(1500),
    "evaluate_run": Resources(1500, 10),
    "evaluate_bucc": Resources(4500, 60),
    "evaluate_transfer": Resources(2000, 30),
    # Evaluations of a model share a job on a cluster, and their times are added.
    "evaluate": Resources(2000, 8),
    "measure_speed": Resources(2000, 30),
    "prepare_testsets": Resources(700),
}


def resources_of(step: str) -> dict[str, Callable[..., int]]:
    """Return the resources `mem_mb` and `runtime` (in minutes) of a rule.

    Args:
        step: the name of the rule, in which wildcards such as in `evaluate_{task}` are filled in.
    """

    def asked(wildcards: Any, input: Any) -> tuple[float, float]:
        name = step.format(**dict(wildcards.items()))
        entry = _TABLE.get(name) or _TABLE.get(name.partition("_")[0], _SMALL)
        # The size is asked for only if it matters, since it is unknown in a group of jobs.
        size = min(input.size_mb, entry.largest) if entry.minutes_per_mb else 0.0
        return entry.mb + entry.mb_per_mb * size, entry.minutes + entry.minutes_per_mb * size

    def mem_mb(wildcards: Any, input: Any, attempt: int) -> int:
        return math.ceil(asked(wildcards, input)[0] * (1 + attempt) / 200) * 100

    def runtime(wildcards: Any, input: Any, attempt: int) -> int:
        return math.ceil(asked(wildcards, input)[1] * (1 + attempt) / 2)

    return {"mem_mb": mem_mb, "runtime": runtime}
