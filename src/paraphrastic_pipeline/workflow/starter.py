"""A first configuration for somebody's own corpora, as `paraphrastic new` writes it."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from paraphrastic.base.errors import InputError, shown
from paraphrastic_pipeline.corpus.readers import CorpusFile, extract_corpus
from paraphrastic_pipeline.registry.datasets import KINDS, Dataset, RemoteFile, read_registry
from paraphrastic_pipeline.registry.language_labels import labels_of
from paraphrastic_pipeline.settings.check import DEFAULT_CONFIG, DEFAULT_REGISTRY, check_config
from paraphrastic_pipeline.settings.datasets import opus_corpora
from paraphrastic_pipeline.settings.places import name_fault
from paraphrastic_pipeline.settings.sections.configuration import Definition
from paraphrastic_pipeline.settings.sections.corpora import ENDINGS, default_name_and_kind, looks_like_a_path
from paraphrastic_pipeline.settings.yaml import write_yaml
from paraphrastic_pipeline.workflow.own_files import parallel_files, text_columns
from paraphrastic_pipeline.workflow.sizes import SAMPLED, first_rows

# From this number of pairs on, a model is as large as the papers'.
_MANY = 1_000_000
# The settings of `config/small.yaml` for fewer pairs; docs/recipe.md has the measurements.
_SMALL = {"vocabulary": {"size": 8000}, "training": {"dimension": 300, "epochs": 8}}
_SCORE = "paraphrase_score"
# Test sets in several languages, by their tasks.
_TESTS = {"tatoeba": "tatoeba", "bucc": "bucc2018"}


def starter_configuration(languages: Sequence[str], corpora: Sequence[str], output: str) -> str:
    """The text of a configuration, with comments, that trains one model on these corpora.

    Args:
        languages: one for paraphrases, two for translations, in the order of a file's columns.
        corpora: files, and names of data sets of the registry or of OPUS. Two files whose names end in the
            codes of the languages, and two files of text without tabs, are the two sides of one corpus.
        output: the name of the file that the text is for, which its comments mention.

    Raises:
        InputError: the pipeline would refuse the configuration, such as for a file that is not there, or
            would find no pair in a file.
    """
    if not DEFAULT_CONFIG.is_file():
        raise InputError(f"{DEFAULT_CONFIG}: is not a file: run this command in the folder of the pipeline")
    _check_arguments(languages, corpora, output)
    foreign = [code for code in languages if code != "en"] or ["en"]
    model = "-".join(foreign)
    files, parallel = _files_among(corpora, languages)
    definition: dict[str, Any] = {"languages": list(languages), "corpora": list(corpora)}
    selection: dict[str, Any] = {}
    notes = []
    if strange := [code for code in languages if not labels_of(code)]:
        selection["language"] = None
        codes = " and ".join(strange)
        notes.append(f"The language identifier does not know {codes}, so languages are not checked.")
    config: dict[str, Any] = {"models": [model], "definitions": {model: definition}}
    registry = read_registry(DEFAULT_REGISTRY)
    entries = _entries(files, parallel, {*registry, *corpora})
    for file, entry in entries.items():
        kind = default_name_and_kind(file)[1]
        if file not in parallel and kind and (columns := text_columns(file, kind, languages)):
            entry["columns"] = columns
            where = " and ".join(_in_comment(str(column)) for column in columns[:2])
            notes.append(f"The text is in the columns {where} of {_in_comment(file)}.")
    definition["corpora"] = [
        entries.get(corpus, corpus) for corpus in corpora if corpus not in parallel.values()
    ]
    section = "paraphrase" if len(languages) == 1 else "bitext"
    if len(languages) == 1:
        # No corpus needs to have scores until it is known which ones have.
        selection[_SCORE] = None
    if selection:
        definition["selection"] = {section: selection}
    checked, datasets = check_config(config)
    used = [datasets[name] for name in checked.definitions[model].names]
    pairs, scored = _measure(checked.definitions[model], used)
    if scored:
        selection.pop(_SCORE, None)
        if not selection:
            definition.pop("selection", None)
    elif len(languages) == 1:
        notes.append("There is a corpus without paraphrase scores, so no pair is dropped for its score.")
    config |= _evaluation(languages, registry)
    if pairs is not None and pairs < _MANY:
        config |= _SMALL
        notes.append("These settings suit fewer than a million pairs; the defaults are for more.")
    about = f"about {float(f'{pairs:.2g}'):,.0f} pairs" if pairs is not None else "of unknown size"
    text = write_yaml(config, width=110)
    # A name that begins with a hyphen would be an option.
    output = shlex.quote(f"./{output}" if output.startswith("-") else output)
    lines = [
        f"A model of {' and '.join(languages)} from {', '.join(map(_in_comment, corpora))} ({about}).",
        *notes,
        "",
        f"  snakemake -n --configfile {output}            shows what would run",
        f"  snakemake --cores all --configfile {output}   makes and judges results/models/{model}",
        f"  snakemake --cores all --configfile {output} -- results/report.html",
        "      evaluates it on all test sets, and shows the results on a page",
        f"  paraphrastic config --configfile {output}     shows all settings, with their defaults",
        "",
        "config/README.md says where every setting is explained.",
    ]
    return "".join(f"# {line}".rstrip() + "\n" for line in lines) + "\n" + text


def _check_arguments(languages: Sequence[str], corpora: Sequence[str], output: str) -> None:
    """Refuse names that no configuration can have."""
    if len(set(languages)) < len(languages):
        pair, code = "-".join(languages), languages[0]
        raise InputError(f"--languages {pair}: for paraphrases, name the language once: --languages {code}")
    if not all(map(str.strip, corpora)):
        raise InputError("--corpus: a name is empty; give a file, or a corpus of OPUS or of the registry")
    for option, name in (("--output", output), *(("--corpus", corpus) for corpus in corpora)):
        if cause := name_fault(name):
            raise InputError(f"{option}: {shown(name)} {cause}; give the file another name")
    if not output.isprintable():
        raise InputError(
            f"--output: {shown(output)} has characters that cannot be shown; choose another name"
        )


def _files_among(corpora: Sequence[str], languages: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """The corpora that are files, and those of them that have one side each (`parallel_files`)."""
    files = [corpus for corpus in corpora if looks_like_a_path(corpus) or Path(corpus).exists()]
    for file in files:
        if not Path(file).is_file():
            raise InputError(f"{file}: is not a file")
    parallel = parallel_files(files, languages)
    for file in files:
        if default_name_and_kind(file)[1] is None and file not in {*parallel, *parallel.values()}:
            endings = ", ".join(ENDINGS)
            raise InputError(f"{file}: its format is unknown; give its name one of the endings {endings}")
    places = [Path(corpus).resolve() if corpus in files else corpus for corpus in corpora]
    for number, place in enumerate(places):
        if place in places[:number]:
            raise InputError(f"{corpora[number]}: is given twice; name each corpus once")
    return files, parallel


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


def _in_comment(name: str) -> str:
    """A name as a comment shows it: a line break in it would end the comment."""
    return name if name.isprintable() else repr(name)


def _entries(files: Iterable[str], parallel: Mapping[str, str], taken: set[str]) -> dict[str, dict[str, Any]]:
    """The entry of each file under `corpora`, with a `name` if its own is empty or among those `taken`."""
    entries = {}
    for file in files:
        if file in parallel.values():
            continue
        entries[file] = {"path": file} | ({"target": parallel[file]} if file in parallel else {})
        name, _ = default_name_and_kind(file)
        if not name or name in taken:
            numbered = (f"{name or 'corpus'}_{number}" for number in count(2 if name else 1))
            entries[file]["name"] = name = next(candidate for candidate in numbered if candidate not in taken)
        taken = {*taken, name}
    return entries


def _measure(definition: Definition, corpora: Sequence[Dataset]) -> tuple[int | None, bool]:
    """About how many pairs corpora have together, None if it is not known; and whether all have scores.

    Raises:
        InputError: a file has no pair that can be read; the message is the reader's.
    """
    sides = (definition.languages[0], definition.languages[-1])
    listed = {corpus.name: corpus.pairs for corpus in opus_corpora(definition, ())}
    total: int | None = 0
    unscored = 0
    for dataset in corpora:
        pairs = listed.get(dataset.name)
        scores: Sequence[str] = KINDS[dataset.kind].scores if dataset.kind not in SAMPLED else ()
        file, *others = dataset.files
        if file.path and others:
            pairs = _read_all(dataset.kind, dataset.files, sides)
        elif dataset.kind in SAMPLED and Path(file.location).is_file():
            rows, share = first_rows(dataset.kind, file.location, file)
            pairs = round(sum(1 for _ in rows.rows) / share)
            scores = rows.scores
            if not pairs:
                pairs = _read_all(dataset.kind, [file], sides)
        unscored += _SCORE not in scores
        total = None if total is None or pairs is None else total + pairs
    return total, not unscored


def _read_all(kind: str, files: Iterable[RemoteFile], sides: tuple[str, str]) -> int:
    """The number of pairs in a corpus, whose reader says what is wrong with it as a whole."""
    whole = [CorpusFile(Path(file.location), file.languages, file.members) for file in files]
    with TemporaryDirectory() as folder:
        output = Path(folder, "pairs.parquet")
        return extract_corpus(kind, whole, sides, output)["pairs"]
