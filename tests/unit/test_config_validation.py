"""Test that each fault of a configuration is one line with the path of the key."""

from pathlib import Path

import pytest
from configurations import THEIRS, changed, checked

from paraphrastic.base.errors import InputError


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
        (
            "selection.bitext.language",
            {"min_confidence": 0.5},
            "selection.bitext.language.min_confidence: is now min_probability, that of the expected "
            "language; write {min_probability: 0.1} or, for the best guess alone, as before, {rule: best",
        ),
        (
            "comparison",
            {"model": "en", "points": 20},
            "comparison: is no part of a run any more; remove this key, and compare trainings with python "
            "benchmarks/comparison.py (--help shows how)",
        ),
        (
            "evaluation.front",
            {},
            "evaluation.front: is no part of a run any more; remove this key, and measure quality, speed and "
            "size with python benchmarks/front.py (--help shows how)",
        ),
        ("training.epochs", "5", "training.epochs: '5' is not a whole number"),
        ("training.margin", "0,9", "training.margin: '0,9' is not a number; write 0.9, with a decimal point"),
        ("training.margin", "0_9", "training.margin: '0_9' is not a number"),
        ("training.learning_rate", "1e-3", "'1e-3' is not a number; write 0.001, because YAML"),
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
            "definitions.fr.dataset: cannot be given together with corpora; remove one of them",
        ),
        (
            "definitions.fr",
            {"languages": ["en", "fr"], "dataset": {"hdf5": "x.h5", "sentencepiece": "x.model"}},
            "definitions.fr.dataset.vocabulary: is missing",
        ),
        (
            "definitions.fr",
            {"languages": ["en", "fr"], "dataset": {**THEIRS, "hdf5": "{x}.h5"}},
            "definitions.fr.dataset.hdf5: '{x}.h5' contains a brace, which Snakemake reads as a wildcard: ",
        ),
        (
            "definitions.fr",
            {"languages": ["en", "fr"], "dataset": {**THEIRS, "vocabulary": "x.vocab"}},
            "definitions.fr.dataset.vocabulary: 'x.vocab' is not a file",
        ),
        (
            "definitions.fr",
            {"languages": ["en", "fr"], "dataset": THEIRS, "vocabulary": {"languages": "separate"}},
            "definitions.fr.dataset: holds subwords that the languages share, not those of P-SP (separate",
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
            "definitions.fr.corpora: 'sts' is of kind 'sts', not opus or manythings or",
        ),
        (
            "definitions.fr.languages",
            ["french"],
            "definitions.fr.languages.0: 'french' is not a language code, which has two or three small "
            "letters, such as de",
        ),
        (
            "definitions.fr.languages",
            "en-fr",
            "definitions.fr.languages: 'en-fr' is not a list; write [en, fr]",
        ),
        ("definitions.fr.languages", ["en", "en"], "definitions.fr.languages: 'en' is named twice"),
        (
            "definitions.fr.languages",
            [False, "en"],
            "definitions.fr.languages.0: False is not text; YAML reads no as false; write 'no' in quotes",
        ),
        ("models", [True], "models.0: True is not text; YAML reads yes and on as true; write the word in"),
        (
            "statistics.parsers",
            {False: "parse"},
            "statistics.parsers: 'False' is not a language code, which has two or three small letters, such "
            "as de; YAML reads no as false",
        ),
        ("word_vectors", False, "word_vectors: False is not text or null"),
        ("models", ["de", "en", "de"], "models: 'de' is named twice"),
        (
            "evaluation.bucc",
            {"testsets": "bucc2018", "pairs": "de-en"},
            "is not a list or null; write [de-en]",
        ),
        ("training.coarser", 500, "training.coarser: 500 is not a list; write [500]"),
        ("models", ["en", "it"], "models: 'it' is not described under definitions; there are en, de, es, fr"),
        ("models", "en", "models: 'en' is not a list"),
        ("language_id", "lid175", "language_id: 'lid175' is not in the registry of data sets; did you mean"),
        (
            "language_id",
            None,
            "config: selection.paraphrase.language: needs language_id, which is null",
        ),
        (
            "evaluation.sts",
            "multi30k",
            "evaluation.sts: 'multi30k' is of kind 'aligned', not sts or file",
        ),
        ("evaluation.sts", "lid176", "evaluation.sts: 'lid176' is of kind 'fasttext', not sts or file"),
        ("language_id", "sts", "language_id: 'sts' is of kind 'sts', not fasttext or labelled or file"),
        ("word_vectors", "lid176", "word_vectors: 'lid176' is of kind 'fasttext', not vectors or file"),
        ("training.epochs", 5.5, "training.epochs: 5.5 is not a whole number"),
        (
            "training.epochs",
            "1e3",
            "training.epochs: '1e3' is not a whole number; write 1000, because YAML",
        ),
        ("training.margin", 10**400, "is not a number"),
        ("sweep.megabatch", [10.5], "sweep.megabatch.0: 10.5 is not a whole number"),
        ("training.learning_rate", float("nan"), "training.learning_rate: nan is not a number"),
        ("training.margin", float("inf"), "training.margin: inf is not a number"),
        ("training.learning_rate", 1e30, "training.learning_rate: 1e+30 is greater than the maximum of 10"),
        (
            "filter_study.training",
            {"coarser": [99_999]},
            "filter_study.training.coarser: 99,999 pieces are not fewer than the vocabulary's",
        ),
        (
            "training.coarser",
            [100, 99_999],
            "training.coarser: 99,999 pieces are not fewer than the vocabulary's",
        ),
        (
            "training.trained_dimension",
            300,
            "training.trained_dimension: is for tables that are joined (coarser); set it to null",
        ),
        (
            "training",
            {"coarser": [100], "trained_dimension": 300, "dimension": 601},
            "training.trained_dimension: 2 tables of 300 dimensions do not make one of 601",
        ),
        (
            "training",
            {"coarser": [100], "distil": "teacher"},
            "training.coarser: does not go with distil; set one of them to null, or coarser to []",
        ),
        (
            "definitions.de",
            {
                "languages": ["en", "de"],
                "corpora": ["sample_opus"],
                "training": {"coarser": [100]},
                "vocabulary": {"unit": "word"},
            },
            "definitions.de.training.coarser: is for an average of subwords that all languages share",
        ),
        ("training.weight_decay", 0.01, "training.weight_decay: is for the optimizer adamw, not for adam"),
        (
            "training",
            {"optimizer": "lazy_adam", "engine": "autograd"},
            "training.optimizer: lazy_adam is for the engine fused, not for autograd",
        ),
        ("seed", True, "seed: True is not a whole number"),
        ("registry", None, "registry: has no value; text is needed"),
        ("mirror", "/nonexistent", "mirror: '/nonexistent' is neither a folder nor an http(s) address"),
        ("mirror", "ftp://x/y", "mirror: 'ftp://x/y' is neither a folder nor an http(s) address"),
        ("selection.bitext.trigram_overlap", {"max": 0.5}, "selection.bitext.trigram_overlap: unknown key"),
        (
            "definitions.en.corpora",
            ["multi30k_captions"],
            "selection.paraphrase.paraphrase_score: 'multi30k_captions' has no paraphrase score of its own",
        ),
        ("duplicates", "keep", "duplicates: 'keep' is not one of keep_one, drop_all, keep_all"),
        (
            "selection.paraphrase.rank",
            {"by": "trigram_overlap", "min": 0.5, "max": 0.5},
            "selection.paraphrase.rank: no pair has a rank from 0.5 to 0.5",
        ),
        (
            "selection.paraphrase.rank",
            {"by": "length", "min": 0.5, "max": 1},
            "selection.paraphrase.rank.by: 'length' is not one of",
        ),
        (
            "definitions.en",
            {
                "languages": ["en"],
                "corpora": ["multi30k_captions"],
                "selection": {
                    "paraphrase": {
                        "rank": {"by": "paraphrase_score", "min": 0.8, "max": 1},
                        "paraphrase_score": None,
                    }
                },
            },
            "selection.paraphrase.rank.by: 'multi30k_captions' has no paraphrase score of its own",
        ),
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
            "contamination.testsets.bucc",
            "tatoeba",
            "contamination.testsets.bucc: 'tatoeba' has files that are not archives of two languages",
        ),
        (
            "contamination.testsets.senteval",
            "polish_cds",
            "contamination.testsets.senteval: 'polish_cds' has 3 files; one archive is needed",
        ),
        (
            "evaluation.tatoeba",
            {"testsets": "tatoba"},
            "evaluation.tatoeba.testsets: 'tatoba' is not in the registry of data sets; did you mean",
        ),
        (
            "evaluation.tatoeba",
            {"testsets": "sts"},
            "evaluation.tatoeba.testsets: 'sts' is of kind 'sts', not file",
        ),
        (
            "evaluation.tatoeba",
            {"testsets": "bucc2018"},
            "evaluation.tatoeba.testsets: 'bucc2018' has no language with its own file and",
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
            "evaluation.bucc.testsets: 'tatoeba' has files that are not archives of two languages",
        ),
        (
            "evaluation.senteval",
            "sentevl",
            "evaluation.senteval: 'sentevl' is not in the registry of data sets; did you mean 'senteval'?",
        ),
        (
            "evaluation.senteval",
            "polish_cds",
            "evaluation.senteval: 'polish_cds' has 3 files; one archive is needed",
        ),
        (
            "evaluation.polish",
            {"ppc": "polish_ppc"},
            "evaluation.polish.cds: is missing",
        ),
        (
            "evaluation.polish",
            {name: "sts" for name in ("ppc", "cr_h", "cr_m", "cds", "sick", "8tags")},
            "evaluation.polish.8tags: 'sts' is of kind 'sts', not file",
        ),
        ("contamination.drop", "all", "contamination.drop: 'all' is not one of none, exact, near"),
        (
            "contamination",
            {"drop": "near", "near_duplicates": None},
            "config: contamination.drop: near needs contamination.near_duplicates, which is null",
        ),
        ("statistics.parsers", {"en": ""}, "statistics.parsers.en: '' is not a command"),
        (
            "filter_study.model",
            "nn",
            "filter_study.model: 'nn' is not described under definitions; there are en",
        ),
        ("filter_study.model", "fr", "filter_study.model: 'fr' is a model of bitext; a model of para"),
        ("statistics.idf", "wiki", "statistics.idf: 'wiki' is not in the registry of data sets"),
        ("statistics.idf", "sample_opus", "statistics.idf: 'sample_opus' is of kind "),
        (
            "statistics.idf",
            "sample_tatoeba",
            "statistics.idf: 'tatoeba.deu-eng.deu' of 'sample_tatoeba' is in de-en",
        ),
        ("negatives.model", "nn", "negatives.model: 'nn' is not described under definitions; there are en"),
        (
            "negatives",
            {"model": "en", "megabatch": [2, 1], "sentences": [f"sentence {n}" for n in range(129)]},
            "negatives.sentences: do not fit into the smallest mega-batch, which has 128 pairs",
        ),
        (
            "filter_study.rank_by",
            ["score"],
            "filter_study.rank_by.0: 'score' is not one of paraphrase_score,",
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
            "definitions.de.max_pairs: 'sample_aligned' is not one of this model's corpora",
        ),
        (
            "weights",
            {"sample_aligned": 0.5},
            "config: weights.sample_aligned: 0.5 is less than the minimum of 1",
        ),
        (
            "definitions.de.weights",
            {"sample_aligned": 3},
            "definitions.de.weights: 'sample_aligned' is not one of this model's corpora",
        ),
        ("definitions", {"x; rm -rf ~": {}}, "definitions: 'x; rm -rf ~' is not a model's name, which"),
        (
            "filter_study.training",
            {"initial_vectors": None},
            "filter_study.training.initial_vectors: the study uses those of the model",
        ),
        (
            "filter_study.training",
            {"engine": "autograd", "optimizer": "lazy_adam"},
            "filter_study.training.optimizer: lazy_adam is for the engine fused, not for autograd",
        ),
    ],
)
def test_each_fault_is_one_line_with_the_path_of_the_key(path: str, value: object, message: str) -> None:
    with pytest.raises(InputError) as error:
        checked(changed(path, value))
    assert any(line.startswith("config: ") and message in line for line in str(error.value).split("\n")), (
        error
    )


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
