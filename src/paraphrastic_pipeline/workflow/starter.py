"""A first configuration for somebody's own corpora, as `paraphrastic new` writes it."""

import shlex
from collections.abc import Mapping, Sequence
from itertools import count, islice
from pathlib import Path
from typing import Any

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.corpus.language_id import LanguageIdentifier, as_read
from paraphrastic_pipeline.corpus.lines import Unreadable
from paraphrastic_pipeline.corpus.readers import CorpusFile, read_pairs
from paraphrastic_pipeline.corpus.tables import find_columns
from paraphrastic_pipeline.registry.datasets import KINDS, Dataset, read_registry
from paraphrastic_pipeline.registry.language_labels import labels_of
from paraphrastic_pipeline.settings.check import DEFAULT_CONFIG, DEFAULT_REGISTRY, check_config
from paraphrastic_pipeline.settings.sections.corpora import ENDINGS, default_name_and_kind, looks_like_a_path
from paraphrastic_pipeline.settings.yaml import write_yaml

# The settings of `config/small.yaml`; docs/recipe.md has the measurements.
_SMALL = {"vocabulary": {"size": 8000}, "training": {"dimension": 300, "epochs": 8}}
# Test sets in several languages, by their tasks.
_TESTS = {"tatoeba": "tatoeba", "bucc": "bucc2018"}
# Pairs of each file that are looked at, and those of them that a person is shown.
_LOOKED_AT, _SHOWN = 1000, 3


def starter_configuration(
    languages: Sequence[str],
    corpora: Sequence[str],
    output: str,
    *,
    target: str | None = None,
    columns: Sequence[str] = (),
    score_range: Sequence[float] = (),
) -> str:
    """The text of a configuration, with comments, that trains one model on these corpora.

    Args:
        languages: one for paraphrases, two for translations, in the order of a file's columns.
        corpora: files, and names of data sets of the registry or of OPUS.
        output: the name of the file that the text is for, which its comments mention.
        target: the file with the other side of the only corpus, line by line.
        columns: the columns of source and target in the files, by name or by number from 1.
        score_range: the lowest and the highest score in the files, if their scale is not 0 to 1.

    Raises:
        InputError: the pipeline would refuse the configuration, such as for a file that is not there, or
            would find no pair in a file.
    """
    if not DEFAULT_CONFIG.is_file():
        raise InputError(f"{DEFAULT_CONFIG}: is not a file: run this command in the folder of the pipeline")
    registry = read_registry(DEFAULT_REGISTRY)
    taken, entries = {*registry, *corpora}, []
    for corpus in corpora:
        is_file = looks_like_a_path(corpus) or Path(corpus).exists()
        entries.append(_entry(corpus, target, columns, taken) if is_file else corpus)
    notes: list[str] = []
    selection: dict[str, Any] = {}
    if strange := [code for code in languages if not labels_of(code)]:
        selection |= {"language": None}
        known = " and ".join(strange)
        notes.append(f"The language identifier does not know {known}, so languages are not checked.")
    section = "bitext" if len(languages) == 2 else "paraphrase"
    definition = {"languages": list(languages), "corpora": entries, "selection": {section: selection}}
    model = "-".join([code for code in languages if code != "en"] or ["en"])
    config: dict[str, Any] = {"models": [model], "definitions": {model: definition}}
    checked, datasets = check_config(config)
    used = [datasets[name] for name in checked.definitions[model].names]
    identifier = Path(datasets[checked.language_id].files[0].location) if checked.language_id else Path()
    least = getattr(checked.definitions[model].selection, section).paraphrase_score.min
    scored = [corpus.name for corpus in used if _look_at(corpus, score_range, least, identifier, notes)]
    if score_range:
        config["extraction"] = {"score_range": {name: [*score_range] for name in scored}}
    if not selection:
        definition.pop("selection")
    config |= _evaluation(languages, registry) | _SMALL
    notes.append("These settings suit fewer than a million pairs; the defaults are for more.")
    return _text(config, model, output, [f"A model of {' and '.join(languages)}.", *notes])


def _entry(file: str, target: str | None, columns: Sequence[str], taken: set[str]) -> dict[str, Any]:
    """The entry of a file under `corpora`, with a `name` if its own is empty or among those `taken`."""
    for path in filter(None, (file, target)):
        if not Path(path).is_file():
            raise InputError(f"{path}: is not a file")
    entry: dict[str, Any] = {"path": file} | ({"target": target} if target else {})
    if columns:
        entry["columns"] = [int(column) if column.isdecimal() else column for column in columns]
    name, kind = default_name_and_kind(file)
    if kind is None and not target:
        raise InputError(
            f"{file}: its format is unknown; give its name one of the endings {', '.join(ENDINGS)}"
        )
    if not name or name in taken:
        numbered = (f"{name or 'corpus'}_{number}" for number in count(2 if name else 1))
        entry["name"] = name = next(candidate for candidate in numbered if candidate not in taken)
    taken.add(name)
    return entry


def _look_at(
    dataset: Dataset, score_range: Sequence[float], least: float, identifier: Path, notes: list[str]
) -> bool:
    """Note what a file is taken for, and return whether it has scores."""
    if not dataset.files[0].path:
        return False
    scale = score_range or (0, 1)
    files = [CorpusFile(file.location, file.languages, file.members, scale) for file in dataset.files]
    path, sides = Path(files[0].path), (files[0].languages[0], files[-1].languages[-1])
    is_table = "paraphrase_score" in KINDS[dataset.kind].scores
    columns = find_columns(dataset.kind, path, sides, files[0].members) if is_table else None
    if columns and not columns.is_header and not files[0].members and len(columns.names) > 2:
        wanted = "name those of source, target and perhaps a score or label by --columns"
        raise InputError(f"{path}: has {len(columns.names)} columns and no known header: {wanted}")
    unreadable = Unreadable(dataset.name, 1.0)
    pairs = read_pairs(dataset.kind, files, unreadable)
    first = [*islice(pairs.rows, _LOOKED_AT)]
    if not first:
        hint = "; for a table with several columns, name those of source and target: --columns SOURCE TARGET"
        raise InputError(f"{path}: no pair can be read in it{hint}")
    notes.append(f"{_in_comment(str(path))}:")
    roles = columns.roles() if columns else {}
    notes += [f"  {role.replace('_', ' ')}: {_in_comment(name)}" for role, name in roles.items()]
    has_scores = "paraphrase_score" in pairs.scores
    if has_scores:
        kept = [row for row in first if row[3] >= least]
        low = len(first) - len(kept)
        notes.append(f"  Pairs below {least:g} are dropped, {low} of the first {len(first)}.")
        first = kept or first
    if identifier.is_file():
        notes += _languages_seen(first, sides, LanguageIdentifier(identifier))
    notes.append("  The first pairs are:")
    notes += [f"    {' | '.join(map(_in_comment, row[:2]))}" for row in first[:_SHOWN]]
    return has_scores


def _languages_seen(
    rows: Sequence[Sequence[Any]], languages: Sequence[str], identifier: LanguageIdentifier
) -> list[str]:
    """Notes on the languages of both sides of pairs, and on sides that seem to be swapped."""
    seen = []
    for side, language in enumerate(languages):
        labels, *_ = identifier.identify(as_read([row[side].lower() for row in rows]), language)
        seen.append(max(labels, key=labels.count))
    swapped = all(code in labels_of(other) for code, other in zip(seen, reversed(languages), strict=True))
    hint = f": name them as {'-'.join(reversed(languages))}" if swapped and len({*languages}) > 1 else ""
    return [f"  The languages seem to be {seen[0]} and {seen[1]}{hint}"]


def _in_comment(text: str) -> str:
    """A text as a comment shows it: a line break in it would end the comment."""
    return text if text.isprintable() else repr(text)


def _evaluation(languages: Sequence[str], registry: Mapping[str, Dataset]) -> dict[str, Any]:
    """The sections on test sets in these languages, if there are any: to evaluate on, and to search for."""
    known = set(languages)
    tests = {
        task: {"testsets": name}
        for task, name in _TESTS.items()
        if any(set(pair) <= known for pair in registry[name].pairs)
    }
    english = {} if "en" in known else {"sts": None}
    evaluation: dict[str, Any] = {"evaluation": {**english, **tests}} if english or tests else {}
    # A person's own files may well have the sentences of test sets.
    searched = {"sts": "sts"} if "en" in known else {}
    searched |= {"tatoeba": _TESTS["tatoeba"]} if "tatoeba" in tests else {}
    return evaluation | ({"contamination": {"testsets": searched}} if searched else {})


def _text(config: Mapping[str, Any], model: str, output: str, notes: Sequence[str]) -> str:
    """The configuration as YAML, with comments on what it is and what to type next."""
    # A name that begins with a hyphen would be an option.
    file = shlex.quote(f"./{output}" if output.startswith("-") else output)
    lines = [
        *notes,
        "",
        f"  snakemake -n --configfile {file}            shows what would run",
        f"  snakemake --cores all --configfile {file}   makes and judges results/models/{model}",
        f"  snakemake --cores all --configfile {file} -- results/report.html",
        "      evaluates it on all test sets, and shows the results on a page",
        f"  paraphrastic config --configfile {file}     shows all settings, with their defaults",
        "",
        "config/README.md says where every setting is explained.",
    ]
    return "".join(f"# {line}".rstrip() + "\n" for line in lines) + "\n" + write_yaml(dict(config), width=110)
