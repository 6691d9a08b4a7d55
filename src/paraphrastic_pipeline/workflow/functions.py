"""The functions behind the rules that make tables, figures, results of tasks and test sets.

Such a rule has the name of what it makes as a wildcard, as in `results/tables/{table}.csv`. The dictionaries
here and, for tasks, `evaluation.tasks.TASKS` give the function that makes it as `module:function`. Its
arguments are the rule's named inputs and outputs and its parameter `settings`.

A step imports only the module of its function, and only the function and what it calls count as its code.
"""

from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

TABLES = {
    "contamination": "corpus.contamination:tabulate_contamination",
    "corpora": "corpus.statistics:tabulate_corpora",
    "funnel": "corpus.counts:tabulate_funnel",
    "language_choice": "evaluation.language_choice:tabulate_language_choice",
    "speed": "evaluation.speed:tabulate_speed",
    "studies": "evaluation.study_tables:tabulate_studies",
    "sweep": "training.model_selection:tabulate_sweep",
}
FIGURES = {
    "funnel": "report.figures.funnel:plot_funnel",
    "language_choice": "report.figures.studies:plot_language_choice",
    "speed": "report.figures.systems:plot_speed",
    # Figures of all tables of systems, and of all trainings.
    "systems": "report.figures.systems:plot_systems",
    "training": "report.figures.training:plot_training",
}
TESTSETS = {
    "sts": "evaluation.sts_data:prepare_sts",
    "tatoeba": "evaluation.bitext_data:prepare_tatoeba",
    "bucc": "evaluation.bitext_data:prepare_bucc",
    # The test sets of all suites of transfer tasks.
    "transfer": "evaluation.transfer_data:prepare_transfer",
}


def full_name(function: str) -> str:
    """Return the full name of a function that is written as `module:function`."""
    return f"paraphrastic_pipeline.{function.replace(':', '.')}"


def function_of(function: str) -> Any:
    """Import a function that is written as `module:function`."""
    module, _, name = full_name(function).rpartition(".")
    return getattr(import_module(module), name)


def paths(files: Mapping[str, str | Iterable[str]]) -> dict[str, Any]:
    """Return a rule's named inputs or outputs as paths: one, or a list if the rule names a list."""
    items = files.items()
    return {name: Path(given) if isinstance(given, str) else list(map(Path, given)) for name, given in items}
