"""The files and settings of studies of models, for the rules of the pipeline."""

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.settings.definitions import prefixed_name
from paraphrastic_pipeline.workflow.corpora import OfWildcards, Wildcards
from paraphrastic_pipeline.workflow.models import Models


class Studies:
    """What the studies of a checked configuration need of its models."""

    def __init__(self, models: Models) -> None:
        self.models = models
        self.config = models.config

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
