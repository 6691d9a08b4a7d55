"""Names and texts in a configuration, with words for those that a message asks for."""

from typing import Annotated, Literal

from paraphrastic_pipeline.base.limits import Length, Text

LanguageCode = Annotated[
    str, Text("a language code, which has two or three small letters, such as de", pattern="^[a-z]{2,3}$")
]
PairCode = Annotated[str, Text("a pair of language codes, such as de-en", pattern="^[a-z]{2,3}-[a-z]{2,3}$")]
ModelName = Annotated[
    str, Text("a model's name, which has small letters, digits, _ and -", pattern="^[a-z0-9][a-z0-9_-]*$")
]
PlainName = Annotated[str, Text("a name of small letters, digits and _", pattern="^[a-z0-9_]+$")]
SystemName = Annotated[
    str,
    Text("a system's name, which has letters, digits, dots, _ and -", pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$"),
]
SettingPath = Annotated[
    str, Text("the path of a setting, such as sweep.megabatch", pattern=r"^[a-z0-9_]+(\.[a-z0-9_]+)*$")
]
Label = Annotated[str, Text("a label, which neither begins nor ends with a space", pattern=r"^\S(.*\S)?$")]
Words = Annotated[str, Text("a command", pattern=r"\S")]
NotEmpty = Annotated[str, Length(1)]

# Scores by which pairs can be ranked.
Measure = Literal["paraphrase_score", "trigram_overlap", "translation_score"]
