"""Test that each mistake in a configuration is one line with the path of the key and the cause."""

from pathlib import Path

import pytest
from configurations import CAPTIONS, GERMAN, ROOT, THEIRS, assert_fault, changed, checked, load

from paraphrastic.base.errors import InputError

INF, NAN = float("inf"), float("nan")
LSTM = {"encoder": {"parts": [{"kind": "lstm"}]}}
NO_SCORE = {"paraphrase": {"paraphrase_score": None}}
RANK = {"by": "paraphrase_score", "min": 0.8, "max": 1}
# By the path that is set: the value, the path of the fault (what comes after that path, or all of it) and a
# word of its cause.
FAULTS: dict[str, list[tuple[object, str, str]]] = {
    # Single settings.
    "trainig": [({}, "", "'training'")],
    "training": [(None, "", "mapping"), (3, "", "mapping")],
    "training.epoch": [(3, "", "'epochs'")],
    "training.epochs": [
        *((value, "", "integer") for value in ("five", 5.5, None)),
        (True, "", "number"),
        (INF, "", "finite"),
        (-1, "", "0"),
    ],
    "training.margin": [("0,9", "", "number"), (-0.1, "", "0"), (NAN, "", "finite"), (3, "", "2")],
    "training.early_stopping": [({"patience": 3}, ".every", "missing")],
    "sweep.dropout": [([0.1, 1.0], ".1", "0.99"), ([0.1, 0.1], "", "twice")],
    "sweep.megabatch": [([], "", "at least 1"), ([10.5], ".0", "integer")],
    "definitions.de.selection": [({"bitex": {}}, ".bitex", "'bitext'")],
    "definitions.de.seeds": [(1_000_000, "", "100")],
    "definitions.fr.languages": [
        (["french"], ".0", "language code"),
        ("en-fr", "", "[en, fr]"),
        (["en", "en"], "", "twice"),
        ([False, "en"], ".0", "quotes"),
    ],
    "models": [([True], ".0", "quotes"), ("en", "", "[en]"), (["en", "it"], "", "'it'")],
    "evaluation.bucc": [
        ({"testsets": "bucc2018", "pairs": "de-en"}, ".pairs", "[de-en]"),
        ({"testsets": "bucc2018", "pairs": ["en-pl"]}, "", "'en-pl'"),
    ],
    "evaluation.speed": [({"seconds": 0}, ".seconds", "0"), ({"batch": 64}, ".batch", "unknown")],
    "evaluation.polish": [({"ppc": "polish_ppc"}, ".cds", "missing")],
    "vocabulary.units": [
        ({"words": {}}, ".words", "'word'"),
        ({"word": {"sise": 3}}, ".word.sise", "'size'"),
    ],
    "definitions": [({"x; rm -rf ~": GERMAN}, ".x; rm -rf ~", "small letters"), ({}, "", "1")],
    "mirror": [
        ("/nonexistent", "", "neither"),
        ("ftp://x/y", "", "neither"),
        ("https://me:secret@host", "", "password"),
    ],
    "selection.paraphrase.trigram_overlap": [
        ({"max": 1.7}, ".max", "1"),
        ({"min": 0.9, "max": 0.4}, "", "0.9"),
    ],
    "selection.paraphrase.rank": [({"by": "length", "min": 0.5, "max": 1}, ".by", "'paraphrase_score'")],
    # Data sets.
    "language_id": [
        ("lid175", "", "did you mean"),
        ("sts", "", "fasttext"),
        (None, "selection.paraphrase.language", "language_id"),
    ],
    "evaluation.sts": [("multi30k", "", "aligned")],
    "evaluation.senteval": [("sentevl", "", "'senteval'")],
    "evaluation.tatoeba": [
        ({"testsets": "tatoba"}, ".testsets", "did you mean"),
        ({"testsets": "tatoeba", "languages": ["xx"]}, "", "'xx'"),
    ],
    "contamination.testsets": [
        ({"tatoeba": "tatoba"}, ".tatoeba", "did you mean"),
        ({"glue": "x"}, ".glue", "unknown"),
    ],
    "contamination": [({"drop": "near", "near_duplicates": None}, ".drop", "near_duplicates")],
    "definitions.fr.corpora": [
        (["sample_alined"], "", "'sample_aligned'"),
        (["sample_opus"], "", "has nothing in en-fr"),
        (["sts"], "", "kind"),
        (["my/pairs.tsv"], "", "{path: my/pairs.tsv}"),
        ([{"path": "gone.tsv"}], ".0.path", "not a file"),
        ([{"pth": "x.tsv"}], ".0.pth", "'path'"),
        ([7], ".0", "mapping"),
    ],
    "definitions.fr": [
        ({"languages": ["en", "fr"]}, ".corpora", "missing"),
        (
            {"languages": ["en", "fr"], "dataset": {"hdf5": "x.h5", "sentencepiece": "x"}},
            ".dataset.vocabulary",
            "missing",
        ),
        ({"languages": ["en", "fr"], "dataset": {**THEIRS, "hdf5": "{x}.h5"}}, ".dataset.hdf5", "brace"),
    ],
    "definitions.fr.dataset": [(THEIRS, "definitions.fr.corpora", "together")],
    "definitions.en": [
        (CAPTIONS, "selection.paraphrase.paraphrase_score", "'multi30k_captions'"),
        (
            {**CAPTIONS, "selection": {"paraphrase": {"paraphrase_score": None, "rank": RANK}}},
            ".selection.paraphrase.rank.by",
            "score",
        ),
        (
            {**CAPTIONS, "selection": NO_SCORE, "encoder": {"languages": "separate"}},
            ".encoder.languages",
            "two languages",
        ),
    ],
    "max_pairs": [({"opensub": 3}, "", "did you mean")],
    "definitions.de.weights": [
        ({"sample_aligned": 3}, "", "'sample_aligned'"),
        ({"sample_opus": 0.5}, ".sample_opus", "1"),
    ],
    # Encoders and training.
    "encoder.parts": [
        ([{"kind": "gru"}], ".0.kind", "'lstm'"),
        ([{"kind": "average", "pooling": "max"}], "", "lstm"),
        ([{"kind": "lstm", "directions": "concatenate"}], "", "bilstm"),
        ([{"kind": "bilstm", "directions": "concatenate", "dimension": 5}], "", "even"),
    ],
    "encoder": [
        (
            {"parts": [{"kind": "lstm", "dimension": 100}, {"kind": "average"}], "combine": "add"},
            ".combine",
            "dimension",
        ),
        ({"transformer": "a/b", "parts": [{"kind": "lstm"}]}, ".transformer", "parts"),
        ({"transformer": "a/b", "pooling": "lstm_last"}, ".lstm_size", "lstm_last"),
        ({"transformer": "./nowhere"}, ".transformer", "not a folder"),
        ({"pooling": "cls"}, ".pooling", "transformer"),
    ],
    "definitions.de": [
        ({**GERMAN, **LSTM, "training": {"engine": "fused"}}, ".training.engine", "fused"),
        ({**GERMAN, **LSTM, "training": {"optimizer": "lazy_adam"}}, ".training.engine", "lazy_adam"),
        (
            {**GERMAN, "encoder": {"transformer": "a/b"}, "training": {"init": "cooccurrences"}},
            ".training.init",
            "transformer",
        ),
        ({**GERMAN, "vocabulary": {"unit": "word", "unknown": "spellings"}}, ".vocabulary.unknown", "words"),
        ({**GERMAN, "held_out": None, "choose_by": "held_out"}, ".choose_by", "held_out"),
    ],
    "training.initial_vectors": [("nothing", "", "registry"), ("paragram_phrase", "", "words")],
    "training.distil": [("de", "", "depends"), ("nobody", "", "neither")],
    "training.teacher": [("./nowhere", "", "not a folder")],
    "training.coarser": [([99_999], "", "vocabulary")],
    "vocabulary.only_initial_vectors": [(True, "", "initial_vectors")],
}
FAULTS["training"] += [
    ({"initial_vectors_penalty": 0.1, "engine": "fused"}, ".initial_vectors_penalty", "autograd"),
    ({"loss": "multiple_negatives", "engine": "fused"}, ".loss", "autograd"),
    ({"optimizer": "lazy_adam", "engine": "autograd"}, ".optimizer", "fused"),
    ({"coarser": [100], "trained_dimension": 300, "dimension": 601}, ".trained_dimension", "601"),
    ({"soup": 2, "early_stopping": {"patience": 1, "every": 1}}, ".soup", "early_stopping"),
    ({"init": "teacher"}, ".teacher", "init"),
    *(({key: 0.1}, f".{key}", "") for key in ("weight_decay", "composition_penalty", "trained_dimension")),
]


@pytest.mark.parametrize(
    ("path", "value", "at", "cause"), [(path, *case) for path, cases in FAULTS.items() for case in cases]
)
def test_each_fault_is_one_line_with_the_path_of_the_key(
    path: str, value: object, at: str, cause: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    assert_fault(changed(path, value), f"{path}{at}" if at[:1] in ("", ".") else at, cause)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("training.epochs", "3"),
        ("training.learning_rate", "1e-3"),
        ("training.epochs", 3.0),
        ("text.lowercase", "false"),
        ("models", ["de"]),
        ("encoder", LSTM["encoder"]),
        ("definitions.de.max_pairs", {"sample_opus": "9"}),
        ("evaluation.sts", "sts"),
    ],
)
def test_numbers_may_be_text_as_on_the_command_line_of_snakemake(path: str, value: object) -> None:
    checked(changed(path, value))


def test_all_faults_are_told_at_once_but_not_again_for_models_of_studies() -> None:
    config = changed("training.epoch", 3)
    config["sweep"]["dropot"] = []
    with pytest.raises(InputError) as error:
        checked(config)
    assert len(str(error.value).split("\n")) == 2
    config = changed("definitions.de.corpora", ["sample_aligned"])
    with pytest.raises(InputError) as error:
        checked(config)
    assert len(str(error.value).split("\n")) == 1


def test_a_language_that_the_identifier_does_not_know(tmp_path: Path) -> None:
    (tmp_path / "mine.tsv").write_text("one\ttwo\n")
    definition = {"languages": ["en", "xx"], "corpora": [{"path": str(tmp_path / "mine.tsv")}]}
    config = {"models": ["m"], "definitions": {"m": definition}, "evaluation": {"sts": "sts"}}
    assert_fault(config, "selection.bitext.language", "'xx'")
    checked({**config, "selection": {"bitext": {"language": None}}})


@pytest.mark.parametrize(
    ("system", "at", "cause"),
    [
        ({}, "", "none"),
        ({"path": ".", "model2vec": "a/b"}, "", "path and model2vec"),
        ({"path": "nowhere"}, ".path", "not a folder"),
        ({"sentence_transformers": "./no"}, ".sentence_transformers", "not a folder"),
        ({"path": "a{b}"}, ".path", "brace"),
        ({"model2vc": "a/b"}, ".model2vc", "'model2vec'"),
        ({"path": ".", "languages": ["english"]}, ".languages.0", "language code"),
        ({"path": ".", "label": " a"}, ".label", "space"),
    ],
)
def test_faults_of_somebody_elses_system(system: dict[str, object], at: str, cause: str) -> None:
    assert_fault(changed("systems", {"x": system}), f"systems.x{at}", cause)


def test_names_of_models_are_taken() -> None:
    for name in ("de", "fr-untrained"):
        assert_fault(changed("systems", {name: {"path": "."}}), f"systems.{name}", "name")
    systems = {"potion": {"model2vec": "a/b", "label": "potion 8M"}, "minilm": {"sentence_transformers": "a"}}
    assert set(checked({**load("config"), "systems": systems})["systems"]) == {"potion", "minilm"}
