"""`paraphrastic inspect`: what a model has learned."""

from pathlib import Path

from paraphrastic.base.errors import InputError
from paraphrastic.cli import arguments as cli


@cli.command(
    "look at what a model has learned",
    "Show the nearest sentences of some sentences, the pieces with the longest and the shortest embeddings,\n"
    "and on request a map of all sentences in two dimensions.",
    """\
example:
  paraphrastic inspect --model results/models/en --before results/untrained/en \\
      --sentences data/sample/tatoeba/tatoeba.deu-eng.eng --map map.svg

A sentence is the average of its pieces, so pieces with long embeddings count for more. The map is made by
UMAP where the package umap-learn is installed, and otherwise by PCA.
""",
    cli.model(chosen=True),
    cli.argument("--before", metavar="MODEL", help="the same model before training, for its neighbours"),
    cli.argument(
        "--sentences",
        nargs="+",
        required=True,
        metavar="FILE",
        help="sentences to look at, one per line, plain or compressed; each file is a source on the map",
    ),
    cli.several("--sentence", "TEXT", "sentences to find neighbours for (default: some of the file's)"),
    cli.argument("--map", metavar="FILE", help="picture to write, such as map.svg or map.png"),
    cli.LANGUAGE,
)
def inspect(
    model: str | None,
    before: str | None,
    sentences: list[str],
    sentence: list[str],
    map: str | None,
    language: str | None,
) -> None:
    """Print what a model has learned."""
    from paraphrastic.base.text_files import read_sentences
    from paraphrastic.model.average import AverageEncoder
    from paraphrastic.model.folder import choose_folder, open_folder
    from paraphrastic_pipeline.report import inspection

    if map and Path(map).suffix not in (".svg", ".png", ".pdf"):
        raise InputError(f"{map}: a map is written as .svg, .png or .pdf")
    sources = {}
    for path in sentences:
        lines = (" ".join(line.split()) for line in read_sentences(path))
        sources[Path(path).name] = list(dict.fromkeys(filter(None, lines)))
    opened = open_folder(before) if before else None
    after = open_folder(choose_folder(model, [language]))
    inspected = inspection.Inspected(after, opened, sources, language)
    near = inspection.neighbours(inspected, sentence or None)
    print(inspection.as_text("Nearest sentences", inspection.NEIGHBOURS_COLUMNS, near))
    if isinstance(inspected.after, AverageEncoder):
        print(inspection.as_text("Pieces", inspection.PIECES_COLUMNS, inspection.pieces(inspected)))
    else:
        print("The model is not a single average, so its pieces have no length.\n")
    if map:
        from paraphrastic_pipeline.report.figures.map import draw_map

        rows, method = inspection.positions(inspected)
        draw_map(rows, [map])
        cli.say(f"{map}: {len(rows):,} sentences, by {method}")
