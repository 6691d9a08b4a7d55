"""The files and settings of studies of models, for the rules of the pipeline."""

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import Json
from paraphrastic_pipeline.settings.declared import as_json
from paraphrastic_pipeline.settings.study_models import prefixed_name
from paraphrastic_pipeline.workflow.corpora import OfWildcards, Wildcards
from paraphrastic_pipeline.workflow.models import Models

# What there is not if a study names no model.
_WITHOUT_MODEL = {
    "filter_study": "there is no filter study",
    "inspection": "no model is looked at",
    "negatives": "there is no table of negatives",
}


class Studies:
    """What the studies of a checked configuration need of its models."""

    def __init__(self, models: Models) -> None:
        self.models = models
        self.config = models.config

    def study_file(self, study: str, path: str) -> OfWildcards:
        """Return a function for a file of the model that a study such as `negatives` names.

        In the path, `{data}` is the model whose training data are used.
        """

        def file(wildcards: Wildcards) -> str:
            model = self._model(study)
            return path.format(model=model, data=self.models.data_models[model])

        return file

    def filter_study_files(self, name: str) -> OfWildcards:
        """Return a function for one file per measure of the filter study and, with `{part}`, per part."""

        def files(wildcards: Wildcards) -> list[str]:
            folder = f"results/filter_study/{self._model('filter_study')}"
            study = self.config.filter_study
            parts = range(1, study.parts + 1) if "{part}" in name else [0]
            return [
                f"{folder}/{measure}/{name.format(part=part)}" for measure in study.rank_by for part in parts
            ]

        return files

    def study_model_files(self, study: str, folder: str) -> OfWildcards:
        """Return a function for the files of the model that a study names, in a folder of models."""
        return lambda wildcards: self.models.corpora.model_files(
            self._model(study), f"{folder}/{self._model(study)}"
        )

    def _model(self, study: str) -> str:
        model: str | None = getattr(self.config, study).model
        if model is None:
            raise InputError(f"config: {study}.model: is null, so {_WITHOUT_MODEL[study]}")
        return model

    def negatives_settings(self, wildcards: Wildcards) -> Json:
        """Return the settings of the table of negatives, with the size of its model's mini-batches."""
        settings = {key: value for key, value in as_json(self.config.negatives).items() if key != "model"}
        model = self._model("negatives")
        batch_size = self.config.definitions[model].training.batch_size
        texts = self.models.derived[model]["texts"]
        return {**settings, "model": f"results/models/{model}", "batch_size": batch_size, "texts": texts}

    def inspected_files(self, path: str) -> OfWildcards:
        """Return a function for one file per corpus and pair of languages of the inspected model."""
        return lambda wildcards: self.models.corpus_files(self._model("inspection"), path)

    def inspected_corpora(self, wildcards: Wildcards) -> list[str]:
        """Return the names of the inspected model's corpora, one for each of its files of pairs."""
        return self.models.names_in_tables(self._model("inspection"))

    def language_choice_files(self, path: str, *, prefixed: bool = False) -> OfWildcards:
        """Return a function for one file per model of the study of languages, or per prefixed variant."""

        def files(wildcards: Wildcards) -> list[str]:
            study = self.config.language_choice
            if not study.models:
                raise InputError(
                    "config: language_choice.models: is empty, so there is no study of languages"
                )
            if prefixed and not study.prefixed:
                return []
            named = prefixed_name if prefixed else str
            return [path.format(model=named(model)) for model in study.models]

        return files
