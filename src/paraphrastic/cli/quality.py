"""`paraphrastic evaluate`: how good models are on pairs of one's own."""

from typing import Any

from paraphrastic.cli import arguments as cli


@cli.command(
    "measure how good models are on your own pairs",
    "Measure how good one or more models are on a file of pairs: how often the nearest sentence is the\n"
    "partner or, with labels, how well cosines agree with them. It also says which threshold to use.",
    """\
examples:
  paraphrastic evaluate --model en-de-es-fr --languages de-en --pairs pairs.tsv
  paraphrastic evaluate --model en hf://sentence-transformers/all-MiniLM-L6-v2 --pairs questions.tsv \\
      --labels --output quality.json
  paraphrastic search --model en --min-score quality.json --index vectors.npy --input - --output -

A line of the pairs has two sentences with a tab between them and, with --labels, a label after another tab: 1
if they mean the same and 0 if not, or how similar they are. A header above labels is left out. A pair that
cannot be read is named and left out. A model can be a folder, the name of one that comes with the package, a
name on the Hugging Face Hub, or KIND=PLACE with a kind of `systems:` in a configuration, such as
model2vec=FOLDER. The threshold in the file that --output writes is for the model that it was found with:
`search --min-score` and `dedup --threshold` take the file.
""",
    cli.several("--model", "MODEL", f"models to measure on the same pairs (default: {cli.CHOSEN})"),
    cli.file(
        "--pairs",
        "text with two columns, or three with --labels, or a table by the ending of its name: .csv, .tsv, "
        ".jsonl or .parquet; all but the last may be compressed with gzip, bzip2 or Zstandard; - for text on "
        "standard input",
        dest="source",
        required=True,
    ),
    cli.argument(
        "--columns",
        nargs="+",
        metavar="NAME",
        default=(),
        help="columns of the table with the two sentences and, if it has them, their labels; or their "
        "numbers, from 1, if there is no header",
    ),
    cli.file("--second", "file of the second sentences, line by line beside those of --pairs"),
    cli.argument(
        "--labels",
        nargs="?",
        const=True,
        default=False,
        metavar="FILE",
        help="the third column has labels or, if a file is named, that has one on each line",
    ),
    cli.argument("--output", metavar="FILE", help="JSON file for all figures; - for standard output"),
    cli.languages("columns", default=(None, None)),
    cli.argument(
        "--precision",
        type=cli.number,
        metavar="P",
        help="choose the lowest threshold whose precision is at least P, such as 0.95 (default: the "
        "threshold with the highest F1)",
    ),
    cli.STRICT,
    cli.counted("--most", "pairs to use at most, drawn at random (default: 10000)", 10000),
    cli.THREADS,
)  # fmt: skip
def evaluate(
    model: list[str],
    source: str,
    *,
    labels: str | bool,
    output: str | None,
    languages: tuple[str | None, str | None],
    precision: float | None,
    most: int,
    threads: int,
    **options: Any,
) -> None:
    """Print how good models are on the pairs of a file."""
    from contextlib import nullcontext

    from paraphrastic.base.errors import InputError
    from paraphrastic.base.files import json_text
    from paraphrastic.base.text_files import text_output
    from paraphrastic.model.folder import choose_folder
    from paraphrastic.quality.evaluate_files import about, described, evaluate_pairs, open_place
    from paraphrastic.quality.labelled_pairs import read_pairs
    from paraphrastic.systems.open import open_system

    if precision is not None and not 0 < precision <= 1:
        raise InputError(f"a precision of {precision:.12g} is not above 0 and at most 1")
    columns = options["columns"]
    if columns and len(columns) != (3 if labels is True else 2) and (labels or len(columns) != 3):
        cause = "two columns have the sentences, and a third one the labels, if --labels names no file"
        raise InputError(f"--columns: {len(columns)} names; {cause}")
    # The output is opened first: if it cannot be written, that is reported before any work is lost.
    with text_output(output) if output else nullcontext() as file:
        with cli.faults() as on_fault:
            rows = cli.pairs_of(source, options, on_fault)
            pairs = read_pairs(rows, labels=labels, most=most)
        # All are opened before any is measured, which takes a while.
        systems = []
        names: list[str | None] = [*model] or [None]
        for name in names:
            place = name and open_place(name)
            folder = place if isinstance(place, dict) else choose_folder(place, languages)
            systems.append((name or str(folder), open_system(folder, threads=threads)))
        results = []
        for shown, system in systems:
            results.append(
                evaluate_pairs(
                    system, pairs, model=shown, languages=languages, precision=precision, threads=threads
                )
            )
            if output != "-":
                for line in described(results[-1], pairs):
                    cli.say(line)
        if file:
            file.write(json_text({**about(pairs), "models": results}))
