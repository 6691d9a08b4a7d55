"""Test that each fault of a configuration is one line with the path of the key."""

from pathlib import Path

import pytest
from configurations import CAPTIONS, GERMAN, THEIRS, assert_fault, changed, checked

from paraphrastic.base.errors import InputError

# By the path that is set: the value, and the message, which goes on at the path if it begins with a point or
# a colon.
FAULTS: dict[str, list[tuple[object, str]]] = {
    "trainig": [({}, ": unknown key; did you mean 'training'?")],
    "training.epoch": [(3, ": unknown key; did you mean 'epochs'?")],
    "definitions.de.selection": [({"bitex": {}}, ".bitex: unknown key; did you mean")],
    "selection.bitext.language": [
        (
            {"min_confidence": 0.5},
            ".min_confidence: is now min_probability, that of the expected language; "
            "write {min_probability: 0.1} or, for the best guess alone, as before, {rule: best",
        )
    ],
    "comparison": [
        (
            {"model": "en", "points": 20},
            ": is no part of a run any more; remove this key, and compare trainings with python "
            "benchmarks/comparison.py (--help shows how)",
        )
    ],
    "evaluation.front": [
        (
            {},
            ": is no part of a run any more; remove this key, and measure quality, speed and size with "
            "python benchmarks/front.py (--help shows how)",
        )
    ],
    "training.epochs": [
        ("5", ": '5' is not a whole number"),
        (5.5, ": 5.5 is not a whole number"),
        ("1e3", ": '1e3' is not a whole number; write 1000, because YAML"),
    ],
    "training.margin": [
        ("0,9", ": '0,9' is not a number; write 0.9, with a decimal point"),
        ("0_9", ": '0_9' is not a number"),
        (-0.1, ": -0.1 is less than or equal to the minimum of 0"),
        (10**400, f": 1{39 * '0'}… is not a number"),
        (float("inf"), ": inf is not a number"),
    ],
    "training.learning_rate": [
        ("1e-3", ": '1e-3' is not a number; write 0.001, because YAML"),
        (float("nan"), ": nan is not a number"),
        (1e30, ": 1e+30 is greater than the maximum of 10"),
    ],
    "sweep.dropout": [([0.1, 1.0], ".1: 1.0 is greater than the maximum of 0.99")],
    "sweep.megabatch": [([], ": is empty"), ([10.5], ".0: 10.5 is not a whole number")],
    "selection.paraphrase.trigram_overlap": [({"min": 0, "max": 1.7}, ".max: 1.7 is greater")],
    "definitions.en.selection": [
        (
            {"paraphrase": {"paraphrase_score": {"min": 0.9, "max": 0.4}}},
            ".paraphrase.paraphrase_score: min 0.9 is more than max 0.4",
        )
    ],
    "definitions.fr.corpora": [
        ([], ": is empty"),
        (
            ["sample_alined"],
            ": 'sample_alined' is not in the registry of data sets; did you mean 'sample_aligned'?",
        ),
        (["sample_opus"], ": data set 'sample_opus' has nothing in en-fr; it has de-en"),
        (["sts"], ": 'sts' is of kind 'sts', not opus or manythings or"),
    ],
    "definitions.fr": [
        ({"languages": ["en", "fr"]}, ".corpora: is missing"),
        (
            {"languages": ["en", "fr"], "dataset": {"hdf5": "x.h5", "sentencepiece": "x.model"}},
            ".dataset.vocabulary: is missing",
        ),
        (
            {"languages": ["en", "fr"], "dataset": {**THEIRS, "hdf5": "{x}.h5"}},
            ".dataset.hdf5: '{x}.h5' contains a brace, which Snakemake reads as a wildcard: ",
        ),
        (
            {"languages": ["en", "fr"], "dataset": {**THEIRS, "vocabulary": "x.vocab"}},
            ".dataset.vocabulary: 'x.vocab' is not a file",
        ),
        (
            {"languages": ["en", "fr"], "dataset": THEIRS, "vocabulary": {"languages": "separate"}},
            ".dataset: holds subwords that the languages share, not those of P-SP (separate",
        ),
    ],
    "definitions.fr.dataset": [(THEIRS, ": cannot be given together with corpora; remove one of them")],
    "definitions.fr.languages": [
        (["french"], ".0: 'french' is not a language code, which has two or three small letters, such as de"),
        ("en-fr", ": 'en-fr' is not a list; write [en, fr]"),
        (["en", "en"], ": 'en' is named twice"),
        ([False, "en"], ".0: False is not text; YAML reads no as false; write 'no' in quotes"),
    ],
    "models": [
        ([True], ".0: True is not text; YAML reads yes and on as true; write the word in"),
        (["de", "en", "de"], ": 'de' is named twice"),
        (["en", "it"], ": 'it' is not described under definitions; there are en, de, es, fr"),
        ("en", ": 'en' is not a list"),
    ],
    "statistics.parsers": [
        (
            {False: "parse"},
            ": 'False' is not a language code, which has two or three small letters, such as de; "
            "YAML reads no as false",
        ),
        ({"en": ""}, ".en: '' is not a command"),
    ],
    "word_vectors": [
        (False, ": False is not text or null"),
        ("lid176", ": 'lid176' is of kind 'fasttext', not vectors or file"),
    ],
    "evaluation.bucc": [
        ({"testsets": "bucc2018", "pairs": "de-en"}, ".pairs: 'de-en' is not a list or null; write [de-en]"),
        (
            {"testsets": "bucc2018", "pairs": ["en-de"]},
            ".pairs: 'bucc2018' has nothing in 'en-de'; it has de-en, fr-en, ru-en, zh-en",
        ),
        ({"testsets": "tatoeba"}, ".testsets: 'tatoeba' has files that are not archives of two languages"),
    ],
    "training.coarser": [
        (500, ": 500 is not a list; write [500]"),
        ([100, 99_999], ": 99,999 pieces are not fewer than the vocabulary's"),
    ],
    "language_id": [
        ("lid175", ": 'lid175' is not in the registry of data sets; did you mean"),
        (None, "selection.paraphrase.language: needs language_id, which is null"),
        ("sts", ": 'sts' is of kind 'sts', not fasttext or labelled or file"),
    ],
    "evaluation.sts": [
        ("multi30k", ": 'multi30k' is of kind 'aligned', not sts or file"),
        ("lid176", ": 'lid176' is of kind 'fasttext', not sts or file"),
    ],
    "filter_study.training": [
        ({"coarser": [99_999]}, ".coarser: 99,999 pieces are not fewer than the vocabulary's"),
        ({"epoch": 1}, ".epoch: unknown key; did you mean 'epochs'"),
        ({"initial_vectors": None}, ".initial_vectors: the study uses those of the model"),
        (
            {"engine": "autograd", "optimizer": "lazy_adam"},
            ".optimizer: lazy_adam is for the engine fused, not for autograd",
        ),
    ],
    "training.trained_dimension": [(300, ": is for tables that are joined (coarser); set it to null")],
    "training": [
        (
            {"coarser": [100], "trained_dimension": 300, "dimension": 601},
            ".trained_dimension: 2 tables of 300 dimensions do not make one of 601",
        ),
        (
            {"coarser": [100], "distil": "teacher"},
            ".coarser: does not go with distil; set one of them to null, or coarser to []",
        ),
        (
            {"optimizer": "lazy_adam", "engine": "autograd"},
            ".optimizer: lazy_adam is for the engine fused, not for autograd",
        ),
    ],
    "definitions.de": [
        (
            {**GERMAN, "training": {"coarser": [100]}, "vocabulary": {"unit": "word"}},
            ".training.coarser: is for an average of subwords that all languages share",
        )
    ],
    "training.weight_decay": [(0.01, ": is for the optimizer adamw, not for adam")],
    "seed": [(True, ": True is not a whole number")],
    "registry": [(None, ": has no value; text is needed")],
    "mirror": [
        ("/nonexistent", ": '/nonexistent' is neither a folder nor an http(s) address"),
        ("ftp://x/y", ": 'ftp://x/y' is neither a folder nor an http(s) address"),
    ],
    "selection.bitext.trigram_overlap": [({"max": 0.5}, ": unknown key")],
    "definitions.en.corpora": [
        (
            ["multi30k_captions"],
            "selection.paraphrase.paraphrase_score: 'multi30k_captions' has no paraphrase score of its own",
        )
    ],
    "duplicates": [("keep", ": 'keep' is not one of keep_one, drop_all, keep_all")],
    "selection.paraphrase.rank": [
        ({"by": "trigram_overlap", "min": 0.5, "max": 0.5}, ": no pair has a rank from 0.5 to 0.5"),
        ({"by": "length", "min": 0.5, "max": 1}, ".by: 'length' is not one of"),
    ],
    "definitions.en": [
        (
            {
                **CAPTIONS,
                "selection": {
                    "paraphrase": {
                        "rank": {"by": "paraphrase_score", "min": 0.8, "max": 1},
                        "paraphrase_score": None,
                    }
                },
            },
            ".selection.paraphrase.rank.by: 'multi30k_captions' has no paraphrase score of its own",
        ),
        (
            {**CAPTIONS, "selection": {"paraphrase": {"paraphrase_score": None}}},
            "filter_study.rank_by: 'multi30k_captions' has no paraphrase score of its own, and word_vectors",
        ),
    ],
    "contamination.testsets.tatoeba": [
        ("tatoba", ": 'tatoba' is not in the registry of data sets; did you mean")
    ],
    "contamination.testsets.glue": [("sts", ": unknown key; known keys are sts")],
    "contamination.testsets.bucc": [
        ("tatoeba", ": 'tatoeba' has files that are not archives of two languages")
    ],
    "contamination.testsets.senteval": [("polish_cds", ": 'polish_cds' has 3 files; one archive is needed")],
    "evaluation.tatoeba": [
        ({"testsets": "tatoba"}, ".testsets: 'tatoba' is not in the registry of data sets; did you mean"),
        ({"testsets": "sts"}, ".testsets: 'sts' is of kind 'sts', not file"),
        ({"testsets": "bucc2018"}, ".testsets: 'bucc2018' has no language with its own file and"),
        (
            {"testsets": "tatoeba", "languages": ["de", "xx"]},
            ".languages: 'tatoeba' has nothing in 'xx' and English",
        ),
        ({"languages": ["de"]}, ".testsets: is missing"),
    ],
    "evaluation.senteval": [
        ("sentevl", ": 'sentevl' is not in the registry of data sets; did you mean 'senteval'?"),
        ("polish_cds", ": 'polish_cds' has 3 files; one archive is needed"),
    ],
    "evaluation.polish": [
        ({"ppc": "polish_ppc"}, ".cds: is missing"),
        (
            {name: "sts" for name in ("ppc", "cr_h", "cr_m", "cds", "sick", "8tags")},
            ".8tags: 'sts' is of kind 'sts', not file",
        ),
    ],
    "contamination.drop": [("all", ": 'all' is not one of none, exact, near")],
    "contamination": [
        (
            {"drop": "near", "near_duplicates": None},
            ".drop: near needs contamination.near_duplicates, which is null",
        )
    ],
    "filter_study.model": [
        ("nn", ": 'nn' is not described under definitions; there are en"),
        ("fr", ": 'fr' is a model of bitext; a model of para"),
    ],
    "statistics.idf": [
        ("wiki", ": 'wiki' is not in the registry of data sets"),
        ("sample_opus", ": 'sample_opus' is of kind "),
        ("sample_tatoeba", ": 'tatoeba.deu-eng.deu' of 'sample_tatoeba' is in de-en"),
    ],
    "negatives.model": [("nn", ": 'nn' is not described under definitions; there are en")],
    "negatives": [
        (
            {"model": "en", "megabatch": [2, 1], "sentences": [f"sentence {n}" for n in range(129)]},
            ".sentences: do not fit into the smallest mega-batch, which has 128 pairs",
        )
    ],
    "filter_study.rank_by": [
        (["score"], ".0: 'score' is not one of paraphrase_score,"),
        (["translation_score"], ": 'sample_paranmt' has no translation score of its own"),
    ],
    "filter_study.parts": [(1, ": 1 is less than the minimum of 2")],
    "max_pairs": [({"opensub": 3}, ": 'opensub' is not in the registry of data sets")],
    "definitions.de.max_pairs": [
        ({"sample_aligned": 3}, ": 'sample_aligned' is not one of this model's corpora")
    ],
    "weights": [({"sample_aligned": 0.5}, ".sample_aligned: 0.5 is less than the minimum of 1")],
    "definitions.de.weights": [
        ({"sample_aligned": 3}, ": 'sample_aligned' is not one of this model's corpora")
    ],
    "definitions": [({"x; rm -rf ~": {}}, ": 'x; rm -rf ~' is not a model's name, which")],
}


@pytest.mark.parametrize(
    ("path", "value", "message"), [(path, *case) for path, cases in FAULTS.items() for case in cases]
)
def test_each_fault_is_one_line_with_the_path_of_the_key(path: str, value: object, message: str) -> None:
    assert_fault(changed(path, value), path, message)


def test_a_language_that_the_identifier_does_not_know(tmp_path: Path) -> None:
    path = tmp_path / "mine.tsv"
    path.write_text("one\ttwo\n")
    config = {
        "models": ["m"],
        "definitions": {"m": {"languages": ["en", "xx"], "corpora": [{"path": str(path)}]}},
    }
    message = r"selection\.bitext\.language: lid176 does not know 'xx', as it has no label for it; set this"
    with pytest.raises(InputError, match=message):
        checked(config)
    checked({**config, "selection": {"bitext": {"language": None}}})
    checked({**config, "language_id": "sample_languages"})


def test_all_faults_are_told_at_once() -> None:
    config = changed("training.epoch", 3)
    config["sweep"]["dropot"] = []
    with pytest.raises(InputError) as error:
        checked(config)
    assert len(str(error.value).split("\n")) == 2
