"""`paraphrastic evaluate`: how good models are on pairs of one's own."""

from typing import Any

from paraphrastic.cli import arguments as cli


@cli.command(
    "measure how good models are on your own pairs",
    "Measure on a file of pairs how often models find the partner of a sentence or,\n"
    "with labels, how well cosines agree with them; and say which threshold to use.",
    """\
examples:
  paraphrastic evaluate --model en-de-es-fr --languages de-en --pairs pairs.tsv
  paraphrastic evaluate --model en --pairs questions.tsv --labels --output a.json

A line of the pairs has two sentences and, with --labels, a label, with tabs in
between: 1 if they mean the same and 0 if not, or how similar they are. A model
can be model2vec=FOLDER, too. `search --min-score` and `dedup --threshold` take
the file that --output writes, if they use the same model.
""",
    cli.several("--model", "MODEL", f"models to measure on the same pairs (default: {cli.CHOSEN})"),
    cli.rows("--pairs", "text with two columns, or three with --labels"),
    cli.argument(
        "--columns",
        nargs="+",
        metavar="NAME",
        default=(),
        help="columns of a table: the sentences and, if it has them, labels",
    ),
    cli.file("--second", "text with the second sentences, line by line beside those of --pairs"),
    cli.argument(
        "--labels",
        nargs="?",
        const=True,
        default=False,
        metavar="FILE",
        help="the third column has labels, or this file has one on each line",
    ),
    cli.argument("--output", metavar="FILE", help="JSON file for all figures"),
    cli.languages("columns", default=(None, None)),
    cli.argument(
        "--precision",
        type=cli.number,
        metavar="P",
        help="choose the lowest threshold whose precision is at least P (default: the best F1)",
    ),
    cli.SKIP_BAD,
    cli.counted("--most", "pairs to use at most, drawn at random (default: 10000)", 10000),
    cli.THREADS,
)
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
    columns: list[str],
    second: str | None,
    skip_bad: bool,
) -> None:
    """Print how good models are on the pairs of a file."""
    from contextlib import nullcontext

    from paraphrastic.base.errors import InputError
    from paraphrastic.base.files import json_text
    from paraphrastic.base.rows import Source
    from paraphrastic.base.text_files import text_output
    from paraphrastic.model.folder import choose_folder
    from paraphrastic.quality.evaluate_files import about, described, evaluate_pairs, parse_model
    from paraphrastic.quality.labelled_pairs import read_pairs
    from paraphrastic.systems.open import open_encoder

    if precision is not None and not 0 < precision <= 1:
        raise InputError(f"a precision of {precision:.12g} is not above 0 and at most 1")
    if columns and len(columns) != (3 if labels is True else 2) and (labels or len(columns) != 3):
        cause = "two columns have the sentences, and a third one the labels, if --labels names no file"
        raise InputError(f"--columns: {len(columns)} names; {cause}")
    # The output is opened first: if it cannot be written, that is reported before any work is lost.
    with text_output(output) if output else nullcontext() as file:
        with cli.bad_rows(skip_bad) as on_bad:
            rows = Source(source, columns, second=second, texts=2, on_bad=on_bad)
            pairs = read_pairs(rows, labels=labels, most=most)
        # All are opened before any is measured, which takes a while.
        encoders = []
        names: list[str | None] = [*model] or [None]
        for name in names:
            given = name and parse_model(name)
            folder = given if isinstance(given, dict) else choose_folder(given, languages)
            encoders.append((name or str(folder), open_encoder(folder, threads=threads)))
        options: Any = {"languages": languages, "precision": precision, "threads": threads}
        results = []
        for shown, encoder in encoders:
            results.append(evaluate_pairs(encoder, pairs, model=shown, **options))
            if output != "-":
                for line in described(results[-1], pairs):
                    cli.say(line)
        if file:
            file.write(json_text({**about(pairs), "models": results}))
