"""The comparison of trainings on a model's pairs: what the model must be like, and the settings of each."""

from collections.abc import Iterator
from dataclasses import replace

from paraphrastic.base.files import Json
from paraphrastic_pipeline.settings.definitions import RECIPES, study_model_errors
from paraphrastic_pipeline.settings.sections.configuration import Configuration
from paraphrastic_pipeline.settings.sections.training import TrainingSettings


def comparison_errors(config: Configuration) -> Iterator[str]:
    """Errors in the section `comparison` of a completed configuration."""
    model = config.comparison.model
    if model is None:
        return
    yield from study_model_errors("comparison", "no sentences to train StaticEmbedding on", config)
    if model not in config.definitions:
        return
    definition = config.definitions[model]
    architecture = definition.architecture
    if not architecture.averaged or architecture.separate or architecture.units == ("trigram",):
        yield (
            f"comparison.model: {model!r} is {architecture.name}; StaticEmbedding can be compared only with "
            "one average of subwords or words that all languages share"
        )
    if "en" not in definition.languages:
        yield f"comparison.model: {model!r} does not know English, the language of STS 2012–2016"
    if not definition.is_trained:
        yield f"comparison.model: {model!r} is not trained at all, since its training.epochs is 0"


def compared_settings(config: Configuration, model: str, recipe: str) -> TrainingSettings:
    """The training settings of the model with its `own` recipe or with that of the `paper`.

    These are the settings of the first run of the model's sweep. Both train on the processor to the end, as
    StaticEmbedding does.
    """
    settings = next(iter(config.definitions[model].runs.values()))
    (part,) = config.definitions[model].architecture.parts
    own = replace(
        settings,
        dimension=part.dimension or settings.dimension,
        epochs=_epochs(config, model),
        # Scores in the course of training are those of one training.
        soup=1,
        coarser=(),
        trained_dimension=None,
        early_stopping=None,
        device="cpu",
    )
    if recipe != "paper":
        return own
    # What the paper did not have is off.
    paper = {**RECIPES["paper"], "epochs": own.epochs}
    return replace(own, init="random", max_negative_share=None, **paper)


def static_embedding_settings(config: Configuration, model: str) -> Json:
    """The settings with which StaticEmbedding is trained on the model's pairs."""
    definition = config.definitions[model]
    settings, (part,) = compared_settings(config, model, "own"), definition.architecture.parts
    return {
        "dimension": settings.dimension,
        "epochs": settings.epochs,
        "points": config.comparison.points,
        "max_pieces": definition.vocabulary.of_unit(part.unit)["max_pieces"],
        "seed": settings.seed,
    }


def epochs_between_scores(config: Configuration, model: str) -> float:
    """The number of epochs from one score of a compared training to the next."""
    return float(_epochs(config, model) / config.comparison.points)


def _epochs(config: Configuration, model: str) -> int:
    return int(config.comparison.epochs or config.definitions[model].training.epochs)
