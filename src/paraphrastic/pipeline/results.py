"""The tables and figures of a run, and why others are not made, as the rules ask for them."""

import json
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

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


class Results:
    """What a checked configuration says of tables and figures.

    Args:
        evaluations: the evaluations that tables are made of.
        root: the folder of the project, whose `config/published/` has a CSV file for each published table.
    """

    def __init__(self, evaluations: Evaluations, root: Path) -> None:
        self.evaluations, self.root = evaluations, root
        self.config = config = evaluations.config
        # The tables of systems that have a row.
        self.system_tables = [table for table in LAYOUTS if self.rows(table)]
        # The results on STS that are compared with each other, by the system's name.
        self.differing = {
            name: paths[0] for name, paths in self.systems("sts").items() if name not in evaluations.untrained
        }
        # All tables that are made, and all pictures.
        others = self._others()
        made = [table for table, is_made in others.items() if is_made]
        self.tables = [*self.system_tables, *made]
        plotted = ("funnel", "sweep", "filter_study", "language_choice", "speed")
        self.figures = [
            *self.system_tables,
            *(table for table in plotted if table in made),
            *(f"training/{model}/{run}" for model in config["models"] for run in sweep_runs(config, model)),
        ]
        # Why tables that the page could have are not made.
        self.absent = dict.fromkeys(
            (table for table in others if table not in made), "the configuration asks for none"
        ) | {
            table: f"no system of the configuration is evaluated on {layout.task}"
            for table, layout in LAYOUTS.items()
            if table not in self.system_tables
        }
        # All tables with published figures, and why some are not among those that are made.
        self.published = sorted(path.stem for path in (root / "config" / "published").glob("*.csv"))
        self.off = self._off()
        # Tables of other forms that are compared with published ones.
        self.compared = [table for table in self.published if table in made and table not in self.off]
        # What defines each system, by its name, and the digests of that.
        self.defined: dict[str, Json] = {**config["definitions"], **config["systems"]}
        texts = {name: json.dumps(entry, sort_keys=True) for name, entry in self.defined.items()}
        self.config_digests = {name: sha256(text.encode()).hexdigest() for name, text in texts.items()}

    def _others(self) -> dict[str, bool]:
        """All tables but those of systems, and whether they are made."""
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

    def _off(self) -> dict[str, str]:
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
