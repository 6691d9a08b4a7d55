"""The configuration is checked before anything runs, each fault in one line with the key's path."""

import copy
import os
from dataclasses import fields
from pathlib import Path

import pytest
import yaml

from paraphrastic.config import check_config
from paraphrastic.definitions import study_settings, sweep_runs
from paraphrastic.errors import InputError
from paraphrastic.files import sha256
from paraphrastic.ingredients import definitions_needed
from paraphrastic.recipes import RECIPES
from paraphrastic.registry import read_registry
from paraphrastic.sources import named_datasets
from paraphrastic.structure import Part, structure_of, vocabulary_settings
from paraphrastic.training.settings import TrainingSettings

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = ROOT / "workflow" / "schemas" / "config.schema.yaml"


DEFAULT = "config/datasets.tsv"
# Of training data of the original code; these are files at least.
THEIRS = dict.fromkeys(("hdf5", "vocabulary", "sentencepiece"), str(ROOT / "README.md"))
REGISTRY = read_registry(ROOT / DEFAULT)


def load(name: str) -> dict:
    return yaml.safe_load((ROOT / "config" / f"{name}.yaml").read_text(encoding="utf-8"))


def checked(config: dict) -> dict:
    if config.get("registry", DEFAULT) == DEFAULT:  # relative to the repository
        config = {**config, "registry": str(ROOT / DEFAULT)}
    return check_config(config, schema=SCHEMA)[0]


def changed(path: str, value: object) -> dict:
    """The default configuration with one key set."""
    config = load("config")
    *parents, key = path.split(".")
    section = config
    for parent in parents:
        section = section[parent]
    section[key] = value
    return config


@pytest.mark.parametrize("name", ["config", "small", "paper"])
def test_shipped_configurations_are_valid_and_complete(name: str) -> None:
    config = load(name)
    complete = checked(config)
    # A shipped file says every setting, so that nobody has to look for a default.
    assert complete.keys() == config.keys()
    for section in (
        "extraction",
        "text",
        "selection",
        "contamination",
        "statistics",
        "filter_study",
        "language_choice",
        "vocabulary",
        "encoder",
        "sweep",
        "evaluation",
    ):
        assert complete[section] == config[section], section
    # But for those that have their values by the recipe.
    assert complete["training"] == {**RECIPES[config["recipe"]], **config["training"]}


def test_a_dataset_takes_the_place_of_corpora() -> None:
    config = load("config")
    config["definitions"]["en"] = {"languages": ["en"], "dataset": THEIRS}
    # No text, no filters: those that need other data sets do not concern it.
    config |= {"models": ["en"], "definitions": {"en": config["definitions"]["en"]}, "language_id": None}
    config |= {"studies": {}, "language_choice": {}, "filter_study": {}}
    assert checked(config)["definitions"]["en"]["corpora"] == []
    config["filter_study"] = {"model": "en"}
    with pytest.raises(InputError, match=r"filter_study\.model: 'en' has no corpora to rank, but a dataset"):
        checked(config)


def test_a_recipe_is_what_training_leaves_out() -> None:
    config = load("config")
    config["training"]["margin"] = 0.5
    config["definitions"]["de"]["recipe"] = "paper"
    config["definitions"]["fr"]["training"] = {"init_std": 0.2}
    complete = checked(config)
    de, fr = (complete["definitions"][model]["training"] for model in ("de", "fr"))
    assert (de["margin"], de["init_std"], de["init_sif"], de["learning_rate"]) == (0.5, 1.0, None, 0.001)
    assert (fr["margin"], fr["init_std"], fr["init_sif"], fr["learning_rate"]) == (0.5, 0.2, 0.003, 0.003)


def test_a_short_configuration_is_filled_with_defaults() -> None:
    minimal = {
        "models": ["de"],
        "definitions": {"de": {"languages": ["en", "de"], "corpora": ["multi30k"]}},
        "language_id": "lid176",
        "evaluation": {"sts": "sts"},
    }
    config = checked(minimal)
    assert config["mirror"] is None
    definition = config["definitions"]["de"]
    assert definition["training"]["dimension"] == 1024
    assert definition["selection"]["bitext"]["length"] == {"min": 3, "max": 100, "count": "both"}
    assert config["evaluation"]["bootstrap_samples"] == 1000


def test_a_definition_overrides_key_by_key() -> None:
    config = load("config")
    config["definitions"]["de"]["training"] = {"epochs": 2}
    config["definitions"]["de"]["selection"] = {"bitext": {"length": {"min": 4}, "language": None}}
    definitions = checked(config)["definitions"]
    assert definitions["de"]["training"] == {**RECIPES["best"], **config["training"], "epochs": 2}
    assert definitions["de"]["selection"]["bitext"]["length"] == {"min": 4, "max": 100, "count": "both"}
    assert definitions["de"]["selection"]["bitext"]["language"] is None
    assert definitions["fr"]["training"] == {**RECIPES["best"], **config["training"]}
    assert definitions["fr"]["selection"] == config["selection"]


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("trainig", {}, "trainig: unknown key; did you mean 'training'?"),
        ("training.epoch", 3, "training.epoch: unknown key; did you mean 'epochs'?"),
        (
            "definitions.de.selection",
            {"bitex": {}},
            "definitions.de.selection.bitex: unknown key; did you mean",
        ),
        ("training.epochs", "5", "training.epochs: '5' is not of type 'integer'"),
        ("training.learning_rate", "1e-3", "'1e-3' is not of type 'number'; write 0.001, since YAML"),
        ("training.margin", -0.1, "training.margin: -0.1 is less than or equal to the minimum of 0"),
        ("sweep.dropout", [0.1, 1.0], "sweep.dropout.1: 1.0 is greater than the maximum of 0.99"),
        ("sweep.megabatch", [], "sweep.megabatch: is empty"),
        (
            "selection.paraphrase.trigram_overlap",
            {"min": 0, "max": 1.7},
            "trigram_overlap.max: 1.7 is greater",
        ),
        (
            "definitions.en.selection",
            {"paraphrase": {"paraphrase_score": {"min": 0.9, "max": 0.4}}},
            "definitions.en.selection.paraphrase.paraphrase_score: min 0.9 is more than max 0.4",
        ),
        ("definitions.fr.corpora", [], "definitions.fr.corpora: is empty"),
        ("definitions.fr", {"languages": ["en", "fr"]}, "definitions.fr.corpora: is missing"),
        (
            "definitions.fr.dataset",
            THEIRS,
            "definitions.fr.dataset: takes the place of corpora: leave one of them out",
        ),
        (
            "definitions.fr",
            {"languages": ["en", "fr"], "dataset": {"hdf5": "x.h5", "sentencepiece": "x.model"}},
            "definitions.fr.dataset.vocabulary: is missing",
        ),
        (
            "definitions.fr",
            {"languages": ["en", "fr"], "dataset": {**THEIRS, "hdf5": "{x}.h5"}},
            "definitions.fr.dataset.hdf5: '{x}.h5' has a brace, which is a wildcard's: rename the file",
        ),
        (
            "definitions.fr",
            {"languages": ["en", "fr"], "dataset": {**THEIRS, "vocabulary": "x.vocab"}},
            "definitions.fr.dataset.vocabulary: 'x.vocab' is not a file",
        ),
        (
            "definitions.fr",
            {"languages": ["en", "fr"], "dataset": THEIRS, "vocabulary": {"languages": "separate"}},
            "definitions.fr.dataset: is of subwords that the languages share, and not for P-SP (separate",
        ),
        (
            "definitions.fr.corpora",
            ["sample_alined"],
            "definitions.fr.corpora: 'sample_alined' is not in the registry of data sets; "
            "did you mean 'sample_aligned'?",
        ),
        (
            "definitions.fr.corpora",
            ["sample_opus"],
            "definitions.fr.corpora: data set 'sample_opus' has nothing in en-fr; it has de-en",
        ),
        (
            "definitions.fr.corpora",
            ["sts"],
            "definitions.fr.corpora: 'sts' is of kind 'sts'; needed is opus or manythings or",
        ),
        ("definitions.fr.languages", ["french"], "definitions.fr.languages.0: 'french' does not match"),
        ("models", ["en", "it"], "models: 'it' is not described under definitions; there are en, de, es, fr"),
        ("models", "en", "models: 'en' is not of type 'array'"),
        ("language_id", "lid175", "language_id: 'lid175' is not in the registry of data sets; did you mean"),
        (
            "language_id",
            None,
            "config: selection.paraphrase.language: needs language_id, which is null",
        ),
        (
            "evaluation.sts",
            "multi30k",
            "evaluation.sts: 'multi30k' is of kind 'aligned'; needed is sts or file",
        ),
        ("evaluation.sts", "lid176", "evaluation.sts: 'lid176' is of kind 'fasttext'; needed is sts or file"),
        ("language_id", "sts", "language_id: 'sts' is of kind 'sts'; needed is fasttext or labelled or file"),
        ("word_vectors", "lid176", "word_vectors: 'lid176' is of kind 'fasttext'; needed is vectors or file"),
        ("training.epochs", 5.0, "training.epochs: 5.0 is not of type 'integer'"),
        ("sweep.megabatch", [10.0], "sweep.megabatch.0: 10.0 is not of type 'integer'"),
        ("training.learning_rate", float("nan"), "training.learning_rate: nan is not of type 'number'"),
        ("training.margin", float("inf"), "training.margin: inf is not of type 'number'"),
        ("training.learning_rate", 1e30, "training.learning_rate: 1e+30 is greater than the maximum of 10"),
        ("training.weight_decay", 0.01, "training.weight_decay: is for the optimizer adamw, not for adam"),
        (
            "training",
            {"optimizer": "lazy_adam", "engine": "autograd"},
            "training.optimizer: lazy_adam is for the engine fused, not for autograd",
        ),
        ("seed", True, "seed: True is not of type 'integer'"),
        ("registry", None, "registry: None is not of type 'string'"),
        ("mirror", "/nonexistent", "mirror: '/nonexistent' is neither a folder nor an http(s) address"),
        ("mirror", "ftp://x/y", "mirror: 'ftp://x/y' is neither a folder nor an http(s) address"),
        ("selection.bitext.trigram_overlap", {"max": 0.5}, "selection.bitext.trigram_overlap: unknown key"),
        (
            "definitions.en.corpora",
            ["multi30k_captions"],
            "selection.paraphrase.paraphrase_score: 'multi30k_captions' has no score of its own",
        ),
        ("duplicates", "keep", "duplicates: 'keep' is not one of ['keep_one', 'drop_all']"),
        (
            "contamination.testsets.tatoeba",
            "tatoba",
            "contamination.testsets.tatoeba: 'tatoba' is not in the registry of data sets; did you mean",
        ),
        (
            "contamination.testsets.glue",
            "sts",
            "contamination.testsets.glue: unknown key; known keys are sts",
        ),
        (
            "evaluation.tatoeba",
            {"testsets": "tatoba"},
            "evaluation.tatoeba.testsets: 'tatoba' is not in the registry of data sets; did you mean",
        ),
        (
            "evaluation.tatoeba",
            {"testsets": "sts"},
            "evaluation.tatoeba.testsets: 'sts' is of kind 'sts'; needed is file",
        ),
        (
            "evaluation.tatoeba",
            {"testsets": "bucc2018"},
            "evaluation.tatoeba.testsets: 'bucc2018' has no language with a file of its own and",
        ),
        (
            "evaluation.tatoeba",
            {"testsets": "tatoeba", "languages": ["de", "xx"]},
            "evaluation.tatoeba.languages: 'tatoeba' has nothing in 'xx' and English",
        ),
        ("evaluation.tatoeba", {"languages": ["de"]}, "evaluation.tatoeba.testsets: is missing"),
        (
            "evaluation.bucc",
            {"testsets": "bucc2018", "pairs": ["en-de"]},
            "evaluation.bucc.pairs: 'bucc2018' has nothing in 'en-de'; it has de-en, fr-en, ru-en, zh-en",
        ),
        (
            "evaluation.bucc",
            {"testsets": "tatoeba"},
            "evaluation.bucc.testsets: 'tatoeba' has files that are no archive of two languages",
        ),
        (
            "evaluation.senteval",
            "sentevl",
            "evaluation.senteval: 'sentevl' is not in the registry of data sets; did you mean 'senteval'?",
        ),
        (
            "evaluation.senteval",
            "polish_cds",
            "evaluation.senteval: 'polish_cds' has 3 files; needed is one archive",
        ),
        (
            "evaluation.polish",
            {"ppc": "polish_ppc"},
            "evaluation.polish.cds: is missing",
        ),
        (
            "evaluation.polish",
            {name: "sts" for name in ("ppc", "cr_h", "cr_m", "cds", "sick", "8tags")},
            "evaluation.polish.8tags: 'sts' is of kind 'sts'; needed is file",
        ),
        ("contamination.drop", "all", "contamination.drop: 'all' is not one of ['none', 'exact', 'near']"),
        (
            "contamination",
            {"drop": "near", "near_duplicates": None},
            "config: contamination.drop: near needs contamination.near_duplicates, which is null",
        ),
        ("statistics.parsers", {"en": ""}, "statistics.parsers.en: '' does not match"),
        (
            "filter_study.model",
            "nn",
            "filter_study.model: 'nn' is not described under definitions; there are en",
        ),
        ("filter_study.model", "fr", "filter_study.model: 'fr' is a model of bitext; needed is one of para"),
        (
            "filter_study.rank_by",
            ["score"],
            "filter_study.rank_by.0: 'score' is not one of ['paraphrase_score',",
        ),
        (
            "filter_study.rank_by",
            ["translation_score"],
            "config: filter_study.rank_by: 'sample_paranmt' has no translation score of its own",
        ),
        (
            "definitions.en",
            {
                "languages": ["en"],
                "corpora": ["multi30k_captions"],
                "selection": {"paraphrase": {"paraphrase_score": None}},
            },
            "filter_study.rank_by: 'multi30k_captions' has no paraphrase score of its own, and word_vectors",
        ),
        (
            "filter_study.training",
            {"epoch": 1},
            "filter_study.training.epoch: unknown key; did you mean 'epochs'",
        ),
        ("filter_study.parts", 1, "filter_study.parts: 1 is less than the minimum of 2"),
        ("max_pairs", {"opensub": 3}, "config: max_pairs: 'opensub' is not in the registry of data sets"),
        (
            "definitions.de.max_pairs",
            {"sample_aligned": 3},
            "definitions.de.max_pairs: 'sample_aligned' is none of this model's corpora",
        ),
        ("definitions", {"x; rm -rf ~": {}}, "definitions: 'x; rm -rf ~' does not match"),
        (
            "filter_study.training",
            {"initial_vectors": None},
            "filter_study.training.initial_vectors: those of the model serve its study",
        ),
        (
            "filter_study.training",
            {"engine": "autograd", "optimizer": "lazy_adam"},
            "filter_study.training.optimizer: lazy_adam is for the engine fused, not for autograd",
        ),
        ("encoder.parts", [], "encoder.parts: is empty"),
        ("encoder.parts", [{"kind": "gru"}], "encoder.parts.0.kind: 'gru' is not one of"),
        (
            "encoder.parts",
            [{"kind": "lstm", "pool": "max"}],
            "encoder.parts.0.pool: unknown key; did you mean",
        ),
        (
            "encoder.parts",
            [{"kind": "average", "pooling": "max"}],
            "encoder.parts.0.pooling: max is for lstm and bilstm, not for average",
        ),
        (
            "encoder.parts",
            [{"kind": "lstm", "directions": "concatenate"}],
            "encoder.parts.0.directions: concatenate is for bilstm, not for lstm",
        ),
        (
            "definitions.de.encoder",
            {"parts": [{"kind": "bilstm", "directions": "concatenate", "dimension": 5}]},
            "definitions.de.encoder.parts.0.dimension: 5 is odd",
        ),
        (
            "definitions.de.encoder",
            {"parts": [{"kind": "lstm", "dimension": 100}, {"kind": "average"}], "combine": "add"},
            "definitions.de.encoder.combine: vectors of 100, 128 entries cannot be added",
        ),
        (
            "definitions.en.encoder",
            {"languages": "separate"},
            "definitions.en.encoder.languages: separate needs two languages; there is only en",
        ),
        (
            "vocabulary.languages",
            "separate",
            "config: vocabulary.languages: separate needs two languages; there is only en",
        ),
        ("vocabulary.units", {"words": {}}, "vocabulary.units: 'words' is not one of"),
        ("vocabulary.units", {"word": {"sise": 3}}, "vocabulary.units.word.sise: unknown key; did you mean"),
        (
            "definitions.de",
            {
                "languages": ["en", "de"],
                "corpora": ["sample_opus"],
                "encoder": {"parts": [{"kind": "lstm"}]},
                "training": {"engine": "fused"},
            },
            "definitions.de.training.engine: fused is for one averaged part; auto or autograd trains LSTM-SP",
        ),
        (
            "definitions.de",
            {
                "languages": ["en", "de"],
                "corpora": ["sample_opus"],
                "encoder": {"parts": [{"kind": "lstm"}]},
                "training": {"optimizer": "lazy_adam"},
            },
            "training.optimizer: lazy_adam is for the engine fused, not for autograd, which trains LSTM-SP",
        ),
        ("training.initial_vectors", "nothing", "training.initial_vectors: 'nothing' is not in the registry"),
        (
            "training.initial_vectors",
            "paragram_phrase",
            "training.initial_vectors: are for words; no part has the unit word",
        ),
        (
            "training.initial_vectors_penalty",
            0.1,
            "training.initial_vectors_penalty: needs initial_vectors, which is null",
        ),
        (
            "training",
            {"initial_vectors_penalty": 0.1, "engine": "fused"},
            "training.initial_vectors_penalty: is for the engine autograd, not for fused",
        ),
    ],
)
def test_each_fault_is_one_line_with_the_path_of_the_key(path: str, value: object, message: str) -> None:
    with pytest.raises(InputError) as error:
        checked(changed(path, value))
    assert any(line.startswith("config: ") and message in line for line in str(error.value).split("\n")), (
        error
    )


def test_the_parts_of_an_encoder_are_completed() -> None:
    config = load("config")
    config["definitions"]["de"]["vocabulary"] = {"unit": "word", "units": {"trigram": {"size": 99}}}
    config["definitions"]["de"]["encoder"] = {
        "parts": [{"kind": "average"}, {"kind": "lstm", "unit": "trigram"}]
    }
    definitions = checked(config)["definitions"]
    structure = structure_of(definitions["de"])
    assert structure.parts == (Part(unit="word"), Part(kind="lstm", unit="trigram"))
    assert (structure.combine, structure.scramble) == ("concatenate", 0.3)
    assert structure_of(definitions["fr"]).parts == (Part(),)
    assert vocabulary_settings(definitions["de"], "trigram") == {
        **vocabulary_settings(definitions["de"], "word"),
        "size": 99,
    }
    assert "unit" not in vocabulary_settings(definitions["de"], "word")


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to run in, with a corpus of one's own."""
    monkeypatch.chdir(tmp_path)
    Path("My-Data.v2.tsv.gz").write_bytes(b"content")
    Path("pairs.txt").write_text("content")
    return tmp_path


def test_a_corpus_by_path_is_named_and_described(mine: Path) -> None:
    entries = ["multi30k", {"path": "My-Data.v2.tsv.gz", "columns": [3, 1]}]
    config = checked(changed("definitions.de.corpora", entries))
    definition = config["definitions"]["de"]
    assert definition["corpora"] == ["multi30k", "my_data_v2"]
    assert definition["files"] == {
        "my_data_v2": {"path": "My-Data.v2.tsv.gz", "kind": "tsv", "columns": ["3", "1"]}
    }
    dataset = named_datasets(config, REGISTRY)["my_data_v2"]
    (file,) = dataset.select(("en", "de"))
    digest = sha256("My-Data.v2.tsv.gz")
    assert (file.location, file.members, file.version) == (
        "My-Data.v2.tsv.gz",
        ("3", "1"),
        f"sha256:{digest}",
    )


def test_a_name_and_a_kind_may_be_given(mine: Path) -> None:
    entry = {"path": "pairs.txt", "name": "ours", "kind": "tsv"}
    config = changed("definitions.de.corpora", [entry])
    config["max_pairs"] = {"ours": 10}
    # The same file may serve other languages: a translation memory has many.
    config["definitions"]["fr"]["corpora"] = [entry]
    datasets = named_datasets(checked(config), REGISTRY)
    assert [file.languages for file in datasets["ours"].files] == [("en", "de"), ("en", "fr")]


def test_the_version_of_a_file_is_its_content(mine: Path) -> None:
    config = checked(changed("definitions.de.corpora", [{"path": "My-Data.v2.tsv.gz"}]))

    def version() -> str:
        return named_datasets(config, REGISTRY)["my_data_v2"].version

    first = version()
    path = Path("My-Data.v2.tsv.gz")
    status = path.stat()
    path.write_bytes(b"CONTENT")  # as long as before, and its time set back
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    second = version()
    assert second != first
    path.write_bytes(b"content")
    assert version() == first


def test_a_digest_is_computed_once(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = checked(changed("definitions.de.corpora", [{"path": "pairs.txt", "kind": "tsv"}]))
    first = named_datasets(config, REGISTRY)
    monkeypatch.setattr("paraphrastic.sources.sha256", lambda path: pytest.fail("read again"))
    assert named_datasets(config, REGISTRY) == first


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"pth": "x.tsv"}, "corpora.1.pth: unknown key; did you mean 'path'?"),
        ({"name": "x"}, "corpora.1.path: is missing"),
        (7, "corpora.1: 7 is not of type 'string', 'object'"),
        ({"path": "My-Data.v2.tsv.gz", "name": "My Data"}, "corpora.1.name: 'My Data' does not match"),
        ({"path": "My-Data.v2.tsv.gz", "kind": "opus"}, "corpora.1.kind: 'opus' is not one of ['tsv', "),
        ({"path": "My-Data.v2.tsv.gz", "columns": [0, 1]}, "corpora.1.columns.0: 0 is less than the minimum"),
        (
            {"path": "My-Data.v2.tsv.gz", "columns": [1]},
            "corpora.1.columns: has 1 entry, at least 2 are needed",
        ),
        (
            {"path": "My-Data.v2.tsv.gz", "columns": ["en", 2]},
            "corpora.1.columns: columns of kind 'tsv' are numbers from 1, or all of them names",
        ),
        ({"path": "none.tsv"}, "corpora.1.path: 'none.tsv' is not a file"),
        ({"path": "a {x}.tsv"}, "corpora.1.path: 'a {x}.tsv' has a brace, which is a wildcard's"),
        (
            "data/bi",
            "corpora: 'data/bi' is not in the registry of data sets; a file is given as {path: data/bi}",
        ),
        ("Bi.TSV.gz", "corpora: 'Bi.TSV.gz' is not in the registry of data sets; a file is given as {path: "),
        ({"path": "."}, "corpora.1.path: '.' is not a file"),
        ({"path": "pairs.txt"}, "corpora.1.path: 'pairs.txt' has none of the endings .tsv, .jsonl, "),
        (
            {"path": "pairs.txt", "kind": "tmx", "columns": ["en", "de"]},
            "corpora.1.columns: kind 'tmx' has no columns",
        ),
        (
            {"path": "My-Data.v2.tsv.gz", "name": "multi30k"},
            "corpora.1: the name 'multi30k' is taken by the registry of data sets",
        ),
        (
            {"path": "pairs.txt", "kind": "tsv", "name": "other"},
            "corpora.1: the name 'other' is given to two corpora",
        ),
    ],
)
def test_each_fault_of_a_corpus_by_path_is_one_line(mine: Path, entry: object, message: str) -> None:
    config = changed("definitions.fr.corpora", ["sample_aligned", entry])
    config["definitions"]["de"]["corpora"] = [{"path": "My-Data.v2.tsv.gz", "name": "other"}]
    with pytest.raises(InputError) as error:
        checked(config)
    assert any(line.startswith(f"config: definitions.fr.{message}") for line in str(error.value).split("\n"))


def test_all_faults_are_told_at_once() -> None:
    config = changed("training.epoch", 3)
    config["sweep"]["dropot"] = []
    with pytest.raises(InputError) as error:
        checked(config)
    assert len(str(error.value).split("\n")) == 2


def test_checking_leaves_the_given_configuration_alone() -> None:
    config = load("config")
    before = copy.deepcopy(config)
    checked(config)
    assert config == before


def test_a_sweep_is_every_combination() -> None:
    runs = sweep_runs(checked(load("paper")), "fr")
    assert len(runs) == 9
    run = runs["dropout-0.3-megabatch-140"]
    assert (run["dropout"], run["megabatch"], run["seed"]) == (0.3, 140, 1)
    assert list(sweep_runs(checked(load("paper")), "en")) == ["dropout-0.0-megabatch-100"]


def test_the_study_is_trained_as_the_first_run_but_for_what_it_says() -> None:
    config = checked(changed("filter_study.training", {"dimension": 64}))
    first = next(iter(sweep_runs(config, "en").values()))
    assert study_settings(config, "en") == {**first, "dimension": 64}
    # The paper's one epoch is the default, and nothing else.
    assert checked(changed("filter_study", {"model": "en"}))["filter_study"]["training"] == {"epochs": 1}


def test_what_no_figure_depends_on_is_no_setting_of_a_run() -> None:
    config = checked(changed("training.checkpoint_minutes", 3))
    run = next(iter(sweep_runs(config, "de").values()))
    assert set(run) == {field.name for field in fields(TrainingSettings)}
    with pytest.raises(InputError, match=r"filter_study\.training\.tensorboard: the model's own is used"):
        checked(changed("filter_study.training", {"tensorboard": True}))
    with pytest.raises(InputError, match=r"training\.early_stopping\.every: is missing"):
        checked(changed("training.early_stopping", {"patience": 3}))


def test_the_paper_configuration_has_the_papers_values() -> None:
    config = load("paper")
    assert checked(config)["training"] == {
        "dimension": 1024,
        "init_std": 1.0,
        "init_sif": None,
        "epochs": 25,
        "batch_size": 128,
        "megabatch_anneal": 150,
        "margin": 0.4,
        "optimizer": "adam",
        "learning_rate": 0.001,
        "learning_rate_schedule": "constant",
        "weight_decay": 0.0,
        "negatives": "other_side",
        "exclude_duplicates": False,
        "mining_precision": "auto",
        "engine": "auto",
        "device": "cpu",
        "shuffle_window": 2097152,
        "early_stopping": None,
        "checkpoint_minutes": 10,
        "tensorboard": False,
        "initial_vectors": None,
        "initial_vectors_penalty": 0.0,
    }
    assert config["sweep"] == {"dropout": [0.0, 0.1, 0.3], "megabatch": [60, 100, 140]}
    assert config["vocabulary"]["size"] == 50_000
    assert config["duplicates"] == "drop_all"
    paraphrase = config["selection"]["paraphrase"]
    assert paraphrase["length"] == {"min": 5, "max": 40, "count": "mean"}
    assert (paraphrase["paraphrase_score"]["min"], paraphrase["trigram_overlap"]["max"]) == (0.4, 0.7)
    assert config["filter_study"] == {
        "model": "en",
        "rank_by": ["paraphrase_score", "trigram_overlap"],
        "parts": 10,
        "sample": 1_000_000,
        "training": {"epochs": 1},
    }


def mining(**changes: object) -> dict:
    """The default configuration with a mined corpus and a model of it."""
    config = load("config")
    mined = {"languages": ["de", "en"], "corpora": ["sample_opus"], "encoder": "de"}
    config["mined"] = {"found": {**mined, **changes}}
    config["definitions"]["en"]["corpora"] = ["found"]
    config["definitions"]["en"]["selection"] = {"paraphrase": {"paraphrase_score": None}}
    config["filter_study"]["model"] = None
    return config


def test_a_mined_corpus_is_a_corpus() -> None:
    config = {**mining(), "registry": str(ROOT / DEFAULT)}
    complete, datasets = check_config(config, schema=SCHEMA)
    assert complete["mined"]["found"]["min_similarity"] == 0.7
    found = datasets["found"]
    assert (found.kind, found.version) == ("mined", "de-en of sample_opus 1, by the encoder de at 0.7")
    assert found.select(("en",))[0].version == found.version


def test_definitions_needed_are_those_of_encoders_too() -> None:
    config = checked(mining())
    config["models"] = ["en"]
    assert [entry["languages"] for entry in definitions_needed(config)] == [
        ["en"],
        ["de", "en"],
        ["en", "de"],
    ]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"languages": ["de"]}, "mined.found.languages: has 1 entry, at least 2 are needed"),
        ({"min_similarity": 70}, "mined.found.min_similarity: 70 is greater than the maximum of 1"),
        ({"min_similarty": 0.5}, "mined.found.min_similarty: unknown key; did you mean 'min_similarity'?"),
        ({"corpora": ["sample_paranmt"]}, "'sample_paranmt' has nothing in de-en; it has en"),
        ({"corpora": ["found"]}, "mined.found.corpora: data set 'found' has nothing in de-en; it has en"),
        (
            {"encoder": "dee"},
            "mined.found.encoder: 'dee' is not described under definitions; did you mean 'de'?",
        ),
        ({"encoder": "LaBSE"}, "other models are given as {path: …} or {sentence_transformers: …}"),
        ({"encoder": "fr"}, "mined.found.encoder: 'fr' is a model of en and fr, and does not know de"),
        ({"encoder": {"path": "nowhere"}}, "mined.found.encoder.path: 'nowhere' is not a folder"),
        ({"encoder": {"path": "a{b"}}, "mined.found.encoder.path: 'a{b' has a brace, which is a wildcard's"),
        ({"encoder": {"paht": "x"}}, "mined.found.encoder.paht: unknown key; did you mean 'path'?"),
        ({"encoder": "en"}, "'en' is itself made of what it is to mine: en needs found"),
        (
            {"languages": ["en", "de"]},
            "definitions.en.corpora: data set 'found' has nothing in en; it has de",
        ),
    ],
)
def test_faults_of_mined_corpora(changes: dict, message: str) -> None:
    with pytest.raises(InputError) as error:
        checked(mining(**changes))
    assert message in str(error.value)
    assert all(line.startswith("config: ") for line in str(error.value).split("\n"))


def test_a_cycle_through_other_models_is_told() -> None:
    config = mining(encoder="other")
    config["definitions"]["other"] = {**config["definitions"]["en"], "corpora": ["second"]}
    config["mined"]["second"] = {**config["mined"]["found"], "encoder": "en"}
    with pytest.raises(InputError) as error:
        checked(config)
    assert "config: mined.found.encoder: 'other' is itself made of what it is to mine: " in str(error.value)
    assert "other needs second needs en needs found" in str(error.value)


@pytest.mark.parametrize(("name", "owner"), [("multi30k", "the registry of data sets"), ("mine", "a file")])
def test_a_mined_corpus_needs_a_name_of_its_own(mine: Path, name: str, owner: str) -> None:
    Path("mine.tsv").write_text("a\tb\n")
    config = mining(corpora=[{"path": "mine.tsv"}])
    config["mined"] = {name: config["mined"]["found"]}
    config["definitions"]["en"]["corpora"] = [name]
    with pytest.raises(InputError, match=f"mined.{name}: the name is taken by {owner}: give it another name"):
        checked(config)


@pytest.mark.parametrize(
    "file", [{"path": "mine.tsv"}, {"path": "mine.tsv", "kind": "jsonl", "columns": ["a", "b"]}]
)
def test_columns_of_a_file_have_one_order(mine: Path, file: dict) -> None:
    Path("mine.tsv").write_text("a\tb\n")
    config = mining(corpora=[file])
    config["definitions"]["de"]["corpora"] = [file]
    with pytest.raises(InputError, match=r"mined.found.corpora: the columns of 'mine' are en-de elsewhere"):
        checked(config)
    config["mined"]["found"]["corpora"] = [{"path": "mine.tsv", "name": "turned", "columns": [2, 1]}]
    assert checked(config)["mined"]["found"]["corpora"] == ["turned"]
    by_language = {"path": "mine.tsv", "kind": "jsonl"}
    config["mined"]["found"]["corpora"] = config["definitions"]["de"]["corpora"] = [by_language]
    assert checked(config)["mined"]["found"]["corpora"] == ["mine"]
