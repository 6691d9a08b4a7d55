"""The tables and figures of a run, and why others are not made, for the rules of the pipeline."""

from collections.abc import Iterable
from pathlib import Path

from paraphrastic_pipeline.evaluation.tasks import LAYOUTS
from paraphrastic_pipeline.report.contents import CAPTIONS
from paraphrastic_pipeline.settings.definitions import seed_runs
from paraphrastic_pipeline.workflow.corpora import Wildcards
from paraphrastic_pipeline.workflow.evaluations import Evaluations
from paraphrastic_pipeline.workflow.functions import FIGURES


class Results:
    """What a checked configuration says about tables and figures.

    Args:
        evaluations: the evaluations whose results the tables show.
        root: the folder of the project, whose `config/published/` has one CSV file per published table.
    """

    def __init__(self, evaluations: Evaluations, root: Path) -> None:
        self.evaluations, self.root = evaluations, root
        self.config = config = evaluations.config
        # The tables of systems that have at least one row.
        self.system_tables = [table for table in LAYOUTS if self.rows(table)]
        # All tables that are made.
        made = [table for table, is_made in self._others().items() if is_made]
        self.tables = [*self.system_tables, *made]
        # All figures.
        self.figures = [
            *self.system_tables,
            *(table for table in made if table in FIGURES),
            *(
                f"training/{model}/{run}"
                for model in config.models
                if config.definitions[model].training.epochs
                for run in config.definitions[model].trainings
            ),
        ]
        # The captions of all tables.
        mark = "; the data are a sample, or stand in for others" if config.sample else ""
        self.captions = {table: CAPTIONS[table] + mark for table in self.tables}

    def _others(self) -> dict[str, bool]:
        """Return all tables besides those of systems, and whether they are made."""
        models = self.evaluations.models
        corpora = bool(models.model_corpora)
        choice = bool(self.config.language_choice.models)
        return {
            "contamination": corpora,
            "corpora": corpora,
            "funnel": corpora,
            "sweep": True,
            "studies": bool(models.study_models),
            "language_choice": choice,
            "language_choice_correlations": choice,
            "speed": bool(self.evaluations.speed_models),
        }

    def default_targets(self, forced: Iterable[object]) -> list[str]:
        """Return the cards of all models and the tables of held-out pairs and of STS.

        Models without English have no row in the table of STS, and if none has, there is no table. If there
        are files among the words given to `--forcerun`, these are returned instead.

        Snakemake takes every word after `--forcerun` as something to run again. In `--forcerun train_model
        results/models/fr/model.safetensors`, for example, the file is meant as a target but is not one.
        """
        cards = [f"results/models/{model}/README.md" for model in self.config.models]
        files = sorted(str(name) for name in forced if str(name).startswith("results/"))
        tables = [name for name in ("held_out", "sts") if name in self.system_tables]
        return files or [*(f"results/tables/{name}.csv" for name in tables), *cards]

    def rows(self, table: str) -> list[str]:
        """Return the systems that have a row in a table."""
        layout = LAYOUTS[table]
        systems = self.evaluations.systems_of(layout.task)
        if not layout.needs:
            return systems
        return [system for system in systems if layout.needs in self.evaluations.parts(layout.task, system)]

    def systems(self, table: str) -> dict[str, list[str]]:
        """Return the results of all training runs of each system in a table, by the system's name."""
        task = LAYOUTS[table].task
        return {
            system: [f"results/eval/{run}/{task}.json" for run in seed_runs(self.config, system)]
            for system in self.rows(table)
        }

    def files(self, table: str) -> list[str]:
        """Return the results of all systems in a table as one list."""
        return [path for paths in self.systems(table).values() for path in paths]

    def intervals(self, wildcards: Wildcards) -> list[str]:
        """Return the intervals of a table's figures; none unless it is a table of systems."""
        table = wildcards.table
        return [f"results/tables/intervals/{table}.csv"] if table in self.system_tables else []

    def published_file(self, wildcards: Wildcards) -> list[str]:
        """Return the file of a table's published figures; none if there are no such figures."""
        path = f"config/published/{wildcards.table}.csv"
        return [path] if (self.root / path).exists() else []
