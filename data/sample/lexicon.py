"""The concepts of the sample: what each is called in English, German, Spanish and French.

In the tables of `lexicon/`, `/` separates alternative wordings, and `>` comes before an irregular form: a
plural, a German comparative, or a French feminine.

- Classes: H people, A animals, F food, D drinks, T things, C clothes, V vehicles, M media, P places, O
  organisations, X affairs. `~` marks substances, which have no plural.
- Nouns begin with their gender (`w`: German weak masculine; `f*`: Spanish feminine with *el*). German nouns
  end with their plural.
- Verbs have a frame: t transitive, d with a receiver, i intransitive, m of motion; s marks states and e
  single events. In German, `|` separates a separable prefix, `+D` asks for the dative, and `+zu` for an
  infinitive with *zu*.
- French adjectives with `+` go before their noun.
"""

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

LANGUAGES = ("en", "de", "es", "fr")
FOLDER = Path(__file__).parent / "lexicon"


@dataclass(frozen=True)
class Concept:
    """One meaning with its wordings in each language; the module explains the notation of the forms."""

    key: str
    category: str
    classes: str
    forms: dict[str, tuple[str, ...]]
    frame: str = ""
    objects: str = ""
    prepositions: tuple[str, ...] = ()


def read_rows(name: str) -> list[dict[str, str]]:
    """The rows of one table of the lexicon, by column name."""
    lines = (FOLDER / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
    header = lines[0].split("\t")
    return [dict(zip(header, line.split("\t"), strict=True)) for line in lines[1:]]


def read_irregular(language: str) -> dict[str, dict[str, str]]:
    """The irregular forms of a language's verbs: form by its name, by infinitive."""
    return {row.pop("verb"): row for row in read_rows(f"irregular_{language}")}


def _load() -> dict[str, Concept]:
    concepts: dict[str, Concept] = {}

    def add(category: str, row: dict[str, str], **more: str) -> None:
        forms = {language: tuple(row[language].split("/")) for language in LANGUAGES}
        name = forms["en"][0].split(">")[0]
        key = f"{category}:{name}"
        while key in concepts:  # one English word can name two concepts, as in to visit a person or a place
            key += "'"
        prepositions = tuple(row.get("prepositions", "").split(" ", 2))
        concepts[key] = Concept(
            key, category, more.pop("classes", ""), forms, prepositions=prepositions, **more
        )

    for row in read_rows("nouns"):
        add("noun", row, classes=row["class"])
    for row in read_rows("verbs"):
        add("verb", row, classes=row["subject"], frame=row["frame"], objects=row["object"])
    for row in read_rows("adjectives"):
        add("adjective", row, classes=row["class"], frame=row["be"])
    for row in read_rows("times"):
        add("time", row, classes=row["tense"])
    for row in read_rows("words"):
        add(row["category"], row)
    for row in read_rows("weather"):
        add("weather", row, classes=row["tense"])
    return concepts


CONCEPTS = _load()
BY_CATEGORY: dict[str, list[Concept]] = defaultdict(list)
for _concept in CONCEPTS.values():
    BY_CATEGORY[_concept.category].append(_concept)
NOUNS_BY_CLASS: dict[str, list[Concept]] = defaultdict(list)
for _concept in BY_CATEGORY["noun"]:
    NOUNS_BY_CLASS[_concept.classes[0]].append(_concept)


def is_mass(key: str) -> bool:
    """Whether the noun is a substance, without a plural."""
    return CONCEPTS[key].classes.endswith("~")
