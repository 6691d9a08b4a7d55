"""Results of evaluations as the pipeline writes them, of figures that a test chooses."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from paraphrastic.base.files import write_json
from paraphrastic_pipeline.evaluation.results import Measured, Result


def made_result(figures: Mapping[str, float | tuple[float, int]], **about: Any) -> Result:
    """A result with these values, or values and numbers of items; intervals are 0.01 below to 0.03 above."""
    pairs = {name: figure if isinstance(figure, tuple) else (figure, 250) for name, figure in figures.items()}
    measured = {name: Measured(value, [value - 0.01, value + 0.03], n) for name, (value, n) in pairs.items()}
    given: dict[str, Any] = {"task": "sts", "system": "P-SP en", "source": "measured", "data": "sample"}
    given |= {"dim": 300, "digest": "abc", "datasets": {}, **about}
    return Result(measurements=measured, **given)


def write_figures(path: Path, figures: Mapping[str, float | tuple[float, int]], **about: Any) -> Path:
    """Write a result as JSON."""
    write_json(path, asdict(made_result(figures, **about)))
    return path
