"""Makes the sample: ``python data/sample/make.py [OUTPUT_DIR]`` (default: the folder of this file)."""

import gzip
import io
import sys
import tempfile
import zipfile
from pathlib import Path
from random import Random

from corpora import DOMAIN, Line, bitext, paraphrases
from english import English
from french import French
from german import German
from grammar import Grammar
from meaning import draw_sentence
from spanish import Spanish
from sts import sts_files

TATOEBA = {"deu": "de", "fra": "fr", "spa": "es"}
TATOEBA_SIZE = 500
# Sentences of each language from which languages are learned.
LABELLED_SIZE = 4_000
EPOCH = (1980, 1, 1, 0, 0, 0)
LICENCE = "CC0 1.0 Universal: https://creativecommons.org/publicdomain/zero/1.0/\n"
ABOUT = "Synthetic sentences made by data/sample/make.py of the project paraphrastic.\n\n" + LICENCE


def zipped(members: dict[str, str]) -> bytes:
    """A zip archive whose bytes depend on the contents alone."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(members):
            info = zipfile.ZipInfo(name, EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            archive.writestr(info, members[name].encode("utf-8"))
    return buffer.getvalue()


def joined(texts: list[str]) -> str:
    """Texts as lines."""
    return "".join(f"{text}\n" for text in texts)


def tatoeba_files(grammars: dict[str, Grammar], taken: set[str]) -> dict[str, str]:
    """The aligned test sentences, unique on each side; adds them, lower-cased, to ``taken``."""
    rng, files = Random("tatoeba"), {}
    for code, language in TATOEBA.items():
        pairs: list[tuple[str, str]] = []
        while len(pairs) < TATOEBA_SIZE:
            meaning = draw_sentence(rng, DOMAIN)
            pair = (grammars[language].realise(meaning), grammars["en"].realise(meaning))
            texts = {text.lower() for text in pair}
            if texts.isdisjoint(taken) and all(4 <= len(text.split()) <= 25 for text in pair):
                taken |= texts
                pairs.append(pair)
        files[f"tatoeba/tatoeba.{code}-eng.{code}"] = joined([other for other, _ in pairs])
        files[f"tatoeba/tatoeba.{code}-eng.eng"] = joined([english for _, english in pairs])
    return files


def manythings(lines: list[Line]) -> str:
    """Tab-separated lines; a few have no attribution, as in older downloads."""
    rows = []
    for number, line in enumerate(lines, 1):
        attribution = "" if number % 13 == 0 else f"\tCC0 1.0 Attribution: paraphrastic sample #{number}"
        rows.append(f"{line.first}\t{line.second}{attribution}")
    return joined(rows)


def language_identifier(texts: dict[str, list[str]]) -> bytes:
    """A small fastText model that identifies the languages; one thread makes the same bytes every time."""
    from fasttext import FastText

    FastText.eprint = lambda *_: None
    kept = {code: lines[:LABELLED_SIZE] for code, lines in texts.items()}
    labelled = [f"__label__{code} {text}" for code, lines in kept.items() for text in lines]
    Random("languages").shuffle(labelled)
    with tempfile.TemporaryDirectory() as folder:
        text, model = Path(folder, "languages.txt"), Path(folder, "languages.ftz")
        text.write_text(joined(labelled), encoding="utf-8")
        trained = FastText.train_supervised(
            str(text), dim=16, minn=1, maxn=4, bucket=50_000, minCount=20, lr=0.5, epoch=10, thread=1, seed=1,
            verbose=0,
        )  # fmt: skip
        trained.quantize()
        trained.save_model(str(model))
        return model.read_bytes()


def sample_files() -> dict[str, bytes]:
    """The contents of every file of the sample, by path."""
    grammars: dict[str, Grammar] = {
        grammar.language: grammar(Random(f"words {grammar.language}"))
        for grammar in (English, German, Spanish, French)
    }
    tested: set[str] = set()
    sts = sts_files(grammars, tested)
    tatoeba = tatoeba_files(grammars, tested)
    german, spanish, french = (bitext(grammars, language, tested) for language in ("de", "es", "fr"))
    english = paraphrases(grammars, tested)
    corpora = {
        "aligned/train": french,
        "de-en.txt.zip": german,
        "para-nmt-sample.zip": english,
        "spa-eng.zip": spanish,
    }
    noise = [
        f"{name}\t{number}\t{line.kind}"
        for name, lines in corpora.items()
        for number, line in enumerate(lines, 1)
        if line.kind
    ]
    files = {name: text.encode("utf-8") for name, text in tatoeba.items()}
    files["STS.zip"] = zipped(sts)
    files["de-en.txt.zip"] = zipped({
        "LICENSE": LICENCE,
        "README": ABOUT,
        "Sample.de-en.de": joined([line.second for line in german]),
        "Sample.de-en.en": joined([line.first for line in german]),
    })  # fmt: skip
    files["spa-eng.zip"] = zipped({"_about.txt": ABOUT, "spa.txt": manythings(spanish)})
    rows = [f"{line.first}\t{line.second}\t{line.score}" for line in english]
    files["para-nmt-sample.zip"] = zipped({"para-nmt-sample/para-nmt-sample.txt": joined(rows)})
    for code, side in (("en", [line.first for line in french]), ("fr", [line.second for line in french])):
        files[f"aligned/train.{code}.gz"] = gzip.compress(joined(side).encode("utf-8"), 9, mtime=0)
    sides = {"en": [line.first for line in german if not line.kind]}
    for code, lines in (("de", german), ("es", spanish), ("fr", french)):
        sides[code] = [line.second for line in lines if not line.kind]
    files["languages.ftz"] = language_identifier(sides)
    files["noise.tsv"] = joined(["file\tline\tkind", *noise]).encode("utf-8")
    return files


def main(arguments: list[str]) -> None:
    """Write every file of the sample below the folder."""
    folder = Path(arguments[0]) if arguments else Path(__file__).parent
    for name, content in sorted(sample_files().items()):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


if __name__ == "__main__":
    main(sys.argv[1:])
