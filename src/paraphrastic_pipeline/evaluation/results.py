"""Results of evaluations: the figures of a system on a task, with their intervals and the data's digests."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from paraphrastic.base.files import Json, read_json, write_json
from paraphrastic.model.encoder import Encoder
from paraphrastic_pipeline.evaluation.figures import Figure
from paraphrastic_pipeline.evaluation.testset_names import LICENSED

Source = Literal["measured", "untrained"]


def write_result(
    result: Path,
    encoder: Encoder,
    figures: Mapping[str, Figure],
    *,
    task: str,
    official: Path | None,
    source: Source,
    bootstrap_samples: int,
    sample: bool = False,
) -> None:
    """Write the figures of a system as JSON.

    `measurements` has the `value`, 95 % `interval` and `n` of each figure, and `datasets` the `digest` of
    each data set, whether it is `official`, and what the evaluation says about it. `data` is `official` if
    all data sets are and the encoder was not trained on a sample; a model's held-out pairs are its `own`.

    Args:
        result: the JSON file.
        encoder: the encoder that was evaluated.
        figures: what the evaluation returned.
        task: name of the task.
        official: JSON file with the digests of the official data, by data set; None for held-out pairs.
        source: whether the encoder was trained.
        bootstrap_samples: number of resamples of the test data, for the intervals.
        sample: whether the encoder was trained on a sample.
    """
    known = read_json(official) if official else {}
    datasets: dict[str, Json] = {}
    for data in (data for figure in figures.values() for data in figure.data):
        is_official = known.get(data.name) == (data.recognized_by or data.digest)
        datasets[data.name] = {**data.about, "digest": data.digest, "official": is_official}
    kind = "official" if all(about["official"] for about in datasets.values()) else "sample"
    write_json(
        result,
        {
            "task": task,
            "system": encoder.label,
            "source": source,
            "data": "sample" if sample else kind if official else "own",
            "dim": encoder.dim,
            "digest": encoder.digest,
            "measurements": {
                name: {
                    "value": float(figure.value),
                    "interval": figure.interval(bootstrap_samples),
                    "n": int(figure.n),
                }
                for name, figure in figures.items()
            },
            "datasets": datasets,
        },
    )


def left_out(result: Mapping[str, Any]) -> list[str]:
    """What the means of a result are without, such as `2013 without SMT`."""
    is_without = result["task"] == "sts" and "/".join(LICENSED) not in result["datasets"]
    return [" without ".join(LICENSED)] if is_without else []
