"""Small data sets of the transfer tasks, in the same formats as the real ones."""

import io
import tarfile
from pathlib import Path

WORDS = {
    "good": ["fine", "lovely", "bright", "sweet", "warm"],
    "bad": ["dull", "sour", "grim", "cold", "stale"],
}
JUDGEMENTS = ("CONTRADICTION", "NEUTRAL", "ENTAILMENT")


def sentence(kind: str, number: int) -> str:
    words = WORDS[kind]
    return f"a {words[number % 5]} story and {words[number // 5 % 5]} film number{number % 7}"


def polarity(kind: str, count: int) -> str:
    return "".join(f"{sentence(kind, number)} \n" for number in range(count))


def labelled(classes: tuple[str, ...], count: int, separator: str = " ") -> str:
    return "".join(
        f"{classes[number % len(classes)]}{separator}word{number % len(classes)} of sentence {number % 9}\n"
        for number in range(count)
    )


def judged(count: int, end: str = "\n") -> str:
    lines = ["pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment"]
    for number in range(count):
        kind = number % 3
        other = (sentence("bad", number), f"something else {number % 4}", sentence("good", number))[kind]
        lines.append(f"{number}\t{sentence('good', number)}\t{other}\t{1.5 + 1.5 * kind}\t{JUDGEMENTS[kind]}")
    return "".join(line + end for line in lines)


def paraphrases(count: int) -> str:
    lines = ["\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String"]
    for number in range(count):
        other = sentence("good", number if number % 2 else number + 3)
        # Some labels are wrong, so no classifier can be right about every row.
        label = number % 2 ^ (number % 7 == 0)
        lines.append(f"{label}\t{number}\t{number + 1}\t{sentence('good', number)}\t{other}")
    return "".join(f"{line}\n" for line in lines)


def senteval_members() -> dict[str, str]:
    """Return all files of SentEval; a sentence with a good word is in class 1, for example."""
    questions = tuple(f"{name}:kind" for name in ("ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM"))
    sentiments = {
        part: "".join(
            f"{sentence(('bad', 'good')[number % 2], number)} \t{number % 2}\n" for number in range(count)
        )
        for part, count in (("train", 80), ("dev", 20), ("test", 30))
    }
    return {
        "MR/rt-polarity.pos": polarity("good", 30),
        "MR/rt-polarity.neg": polarity("bad", 25),
        "CR/custrev.pos": polarity("good", 20) + "\n",
        "CR/custrev.neg": polarity("bad", 20),
        "SUBJ/subj.objective": polarity("good", 20),
        "SUBJ/subj.subjective": polarity("bad", 20),
        "MPQA/mpqa.pos": polarity("good", 20),
        "MPQA/mpqa.neg": polarity("bad", 20),
        **{f"SST/binary/sentiment-{part}": text for part, text in sentiments.items()},
        "TREC/train_5500.label": labelled(questions, 120),
        "TREC/TREC_10.label": labelled(questions, 24),
        "MRPC/msr_paraphrase_train.txt": paraphrases(60),
        "MRPC/msr_paraphrase_test.txt": paraphrases(30),
        "SICK/SICK_train.txt": judged(90),
        "SICK/SICK_trial.txt": judged(30),
        "SICK/SICK_test_annotated.txt": judged(45, "\r\n"),
    }


def write_senteval(path: Path, members: dict[str, str | bytes], folder: str = "data/downstream/") -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, text in members.items():
            content = text if isinstance(text, bytes) else text.encode()
            info = tarfile.TarInfo(folder + name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


def polish_files(folder: Path) -> dict[str, list[Path]]:
    """Write all files of the Polish tasks and return their paths by data set."""
    sizes = {"train": 90, "dev": 30, "test": 45}
    files: dict[str, list[Path]] = {}

    def write(dataset: str, name: str, text: str) -> None:
        path = folder / dataset / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text, encoding="utf-8")
        files.setdefault(dataset, []).append(path)

    for part, size in sizes.items():
        header = "sentence_A\tsentence_B\tlabel\n"
        pairs = [line.split("\t") for line in judged(size).splitlines()[1:]]
        ppc = [f"{a}\t{b}\t{1 + JUDGEMENTS.index(said)}\n" for _, a, b, _, said in pairs]
        write("ppc", f"{part}.txt", header + "".join(ppc))
        for dataset, classes in (("cr_h", "0123"), ("cr_m", "0123"), ("8tags", "01234567")):
            write(dataset, f"{part}.txt", labelled(tuple(classes), size))
    for part, size in (("train", 90), ("trial", 30), ("test_annotated", 45)):
        write("cds", f"CDS_{part}.txt", judged(size))
        write("sick", f"SICK_{part}.txt", judged(size))
    return files
