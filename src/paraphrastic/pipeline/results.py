"""The tables and figures of a run, and why others are not made, as the rules ask for them."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from paraphrastic.config.definitions import sweep_runs
from paraphrastic.config.studies import seed_runs
from paraphrastic.evaluation.layouts import LAYOUTS
from paraphrastic.pipeline.corpora import Json, Wildcards
from paraphrastic.pipeline.evaluations import Evaluations

# The languages of the paper's correlations; those of fewer languages are not compared with them.
PAPER_LANGUAGES = 46


def samples_of(results: Iterable[str]) -> list[str]:
    """The files of resamples beside results."""
    return [path.removesuffix(".json") + ".npz" for path in results]


@dataclass(frozen=True)
class Results:
    """What a checked configuration says of tables and figures.

    Attributes:
        evaluations: the evaluations that tables are made of.
        root: the folder of the project, whose `config/published/` has a CSV file for each published table.
    """

    evaluations: Evaluations
    root: Path

    @property
    def config(self) -> Mapping[str, Any]:
        """The configuration."""
        return self.evaluations.config

    @cached_property
    def system_tables(self) -> list[str]:
        """The tables of systems that have a row."""
        return [table for table in LAYOUTS if self.rows(table)]

    @cached_property
    def _others(self) -> dict[str, bool]:
        """All other tables, and whether they are made."""
        models = self.evaluations.models
        corpora = bool(models.model_corpora)
        study = self.config["filter_study"]["model"] in self.config["models"]
        choice = bool(self.config["language_choice"]["models"])
        return {
            "dataset_differences": len(self.differing) > 1,
            "contamination": corpora,
            "corpora": corpora,
            "funnel": corpora,
            "filter_overlap": corpora,
            "sweep": True,
            "filter_study": study,
            "studies": bool(models.study_models),
            "language_choice": choice,
            "language_choice_correlations": choice,
            "speed": bool(self.evaluations.speed_models),
        }

    @cached_property
    def tables(self) -> list[str]:
        """All tables that are made."""
        return [*self.system_tables, *(table for table, is_made in self._others.items() if is_made)]

    @cached_property
    def figures(self) -> list[str]:
        """All pictures that are made."""
        drawn = ("funnel", "sweep", "filter_study", "language_choice", "speed")
        others = [table for table in drawn if self._others[table]]
        runs = [(model, run) for model in self.config["models"] for run in sweep_runs(self.config, model)]
        return [*self.system_tables, *others, *(f"training/{model}/{run}" for model, run in runs)]

    def default_targets(self, forced: Iterable[object]) -> list[str]:
        """The cards of all models and their table; or the files among what is to be forced (`--forcerun`).

        Snakemake takes every word after that option as something to run again, so that in
        `--forcerun train_model results/models/fr/model.safetensors` the file is no target, although it is
        meant.
        """
        cards = [f"results/models/{model}/README.md" for model in self.config["models"]]
        files = sorted(str(name) for name in forced if str(name).startswith("results/"))
        return files or ["results/tables/sts.csv", *cards]

    def rows(self, table: str) -> list[str]:
        """The systems that a table has rows of."""
        layout = LAYOUTS[table]
        systems = self.evaluations.systems_of(layout.task)
        if not layout.needs:
            return systems
        return [each for each in systems if layout.needs in self.evaluations.parts(layout.task, each)]

    def systems(self, table: str) -> dict[str, list[str]]:
        """The results of all training runs of each system of a table, by the system's name."""
        task = LAYOUTS[table].task
        return {
            system: [f"results/eval/{run}/{task}.json" for run in seed_runs(self.config, system)]
            for system in self.rows(table)
        }

    @cached_property
    def differing(self) -> dict[str, str]:
        """The results on STS that are compared with each other, by the system's name."""
        untrained = self.evaluations.untrained
        return {name: paths[0] for name, paths in self.systems("sts").items() if name not in untrained}

    def files(self, table: str) -> list[str]:
        """The results of all systems of a table in one list."""
        return [path for paths in self.systems(table).values() for path in paths]

    def intervals(self, wildcards: Wildcards) -> list[str]:
        """The intervals of a table's figures, if it is a table of systems."""
        table = wildcards.table
        return [f"results/tables/intervals/{table}.csv"] if table in self.system_tables else []

    def published_file(self, wildcards: Wildcards) -> list[str]:
        """The file of published figures for a table; none if there are no such figures."""
        path = f"config/published/{wildcards.table}.csv"
        return [path] if (self.root / path).exists() else []

    @cached_property
    def published(self) -> list[str]:
        """All tables with published figures."""
        return sorted(path.stem for path in (self.root / "config" / "published").glob("*.csv"))

    @cached_property
    def compared(self) -> list[str]:
        """Tables of other forms that are compared with published ones."""
        others = {table for table, is_made in self._others.items() if is_made}
        return [table for table in self.published if table in others - self.off.keys()]

    @cached_property
    def defined(self) -> dict[str, Json]:
        """What defines each system, by its name."""
        return {**self.config["definitions"], **self.config["systems"]}

    @cached_property
    def config_digests(self) -> dict[str, str]:
        """Digest of what defines each system."""
        texts = {name: json.dumps(entry, sort_keys=True) for name, entry in self.defined.items()}
        return {name: sha256(text.encode()).hexdigest() for name, text in texts.items()}

    @cached_property
    def off(self) -> dict[str, str]:
        """Why published tables are not among those that are made."""
        reasons = {
            "caption_differences": "the other system is InferSent, "
            "and dataset_differences.csv has no figure of it",
            "corpus_choice": "back-translations of its corpora are not published",
        }
        if 0 < (languages := len(self.config["language_choice"]["models"])) < PAPER_LANGUAGES:
            over = f"{PAPER_LANGUAGES} languages, the configuration's over {languages}"
            reasons["language_choice_correlations"] = f"the published figure is over {over}"
        for table in self.published:
            if table in LAYOUTS and table not in self.system_tables:
                reasons[table] = self.absent[table]
            elif table not in self.tables:
                reasons.setdefault(table, f"the configuration asks for no table {table}")
        return reasons

    @cached_property
    def absent(self) -> dict[str, str]:
        """Why tables that the page could have are not made."""
        others = [table for table, is_made in self._others.items() if not is_made]
        return dict.fromkeys(others, "the configuration asks for none") | {
            table: f"no system of the configuration is evaluated on {layout.task}"
            for table, layout in LAYOUTS.items()
            if table not in self.system_tables
        }
