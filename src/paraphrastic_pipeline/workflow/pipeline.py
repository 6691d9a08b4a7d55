"""The tables and figures of a run, for the rules of the pipeline."""

from collections.abc import Iterable
from operator import attrgetter
from pathlib import Path
from typing import Any

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.evaluation.tasks import LAYOUTS
from paraphrastic_pipeline.report.contents import TABLES
from paraphrastic_pipeline.settings.definitions import prefixed_name, seed_runs
from paraphrastic_pipeline.workflow.corpora import Wildcards
from paraphrastic_pipeline.workflow.evaluations import Evaluations


class Pipeline(Evaluations):
    """All that a checked configuration says about its corpora, models, evaluations, tables and figures."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        config = self.config
        # The tables of systems that have at least one row.
        self.system_tables = [table for table in LAYOUTS if self.systems_of(LAYOUTS[table].task)]
        # All tables that are made.
        others = [output for name, output in TABLES.items() if name not in LAYOUTS]
        made = [output for output in others if not output.when or attrgetter(output.when)(self)]
        self.tables = [*self.system_tables, *(output.name for output in made)]
        # All figures.
        self.figures = [
            *self.system_tables,
            *(output.name for output in made if output.figure),
            *(
                f"training/{model}/{run}"
                for model in config.models
                if config.definitions[model].training.epochs
                for run in config.definitions[model].trainings
            ),
        ]
        # The captions of all tables.
        mark = "; the data are a sample, or stand in for others" if config.sample else ""
        self.captions = {table: TABLES[table].caption + mark for table in self.tables}

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

    def table_results(self, table: str) -> dict[str, list[str]]:
        """Return the results of all training runs of each system in a table, by the system's name."""
        task = LAYOUTS[table].task
        return {
            system: [f"results/eval/{run}/{task}.json" for run in seed_runs(self.config, system)]
            for system in self.systems_of(task)
        }

    def all_results(self, table: str) -> list[str]:
        """Return the results of all systems in a table as one list."""
        return [path for paths in self.table_results(table).values() for path in paths]

    def intervals(self, wildcards: Wildcards) -> list[str]:
        """Return the intervals of a table's figures; none unless it is a table of systems."""
        return [f"results/tables/intervals/{name}.csv" for name in {*self.system_tables} & {wildcards.table}]

    def published_file(self, wildcards: Wildcards) -> list[str]:
        """Return the file of a table's published figures; none if there are no such figures."""
        return [str(path) for path in Path("config/published").glob(f"{wildcards.table}.csv")]

    def language_choice_files(self, path: str, *, prefixed: bool = False) -> list[str]:
        """Return one file per model of the study of languages, or per prefixed variant if it has them."""
        study = self.config.language_choice
        if not study.models:
            raise InputError("config: language_choice.models: is empty, so there is no study of languages")
        name = prefixed_name if prefixed else str
        return [path.format(model=name(model)) for model in study.models if study.prefixed or not prefixed]
