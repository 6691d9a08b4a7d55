"""From corpora to paraphrastic sentence embeddings and their tables; see docs/architecture.md."""

from pathlib import Path

from snakemake.utils import min_version

min_version("9.0")

# In another folder (--directory), links lead to the project's own files.
for name in ("config/config.yaml", "config/datasets.tsv", "config/published", "data/sample"):
    if not Path(name).exists():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).symlink_to(Path(workflow.basedir, name))


# A configuration on the command line replaces the default one, which Snakemake would merge with it.
if not workflow.overwrite_configfiles:

    configfile: "config/config.yaml"


include: "rules/common.smk"


# The shards of a corpus are scored side by side.
scattergather:
    shard=settings.shards,


include: "rules/download.smk"
include: "rules/corpus.smk"
include: "rules/mined.smk"
include: "rules/contamination.smk"
include: "rules/statistics.smk"
include: "rules/vocabulary.smk"
include: "rules/dataset.smk"
include: "rules/train.smk"
include: "rules/transformer.smk"
include: "rules/testsets.smk"
include: "rules/evaluate.smk"
include: "rules/speed.smk"
include: "rules/language_choice.smk"
include: "rules/tables.smk"
include: "rules/figures.smk"
include: "rules/report.smk"
include: "rules/hooks.smk"


wildcard_constraints:
    corpus=one_of(pipeline.corpora),
    dataset=one_of(datasets),
    mined=one_of(settings.mined),
    model="|".join(settings.definitions),
    pair="[a-z]{2,3}-[a-z]{2,3}",
    system=one_of([*pipeline.systems, *settings.definitions]),
    run=r"dropout-[0-9.e-]+-megabatch-\d+(-member-\d+)?",
    suite="senteval|polish",
    vocabulary="sentencepiece(-[a-z]+)*",


localrules:
    all,
    paper_tables,


# Makes all models that the configuration names, and the tables of held-out pairs and of STS.
rule all:
    default_target: True
    input:
        lambda wildcards: pipeline.default_targets(workflow.dag_settings.forcerun),


# Makes all tables, for reading and for papers, and all figures.
rule paper_tables:
    input:
        expand("results/tables/{table}.{format}", table=pipeline.tables, format=["csv", "md", "tex"]),
        expand("results/figures/{figure}.{format}", figure=pipeline.figures, format=["svg", "png"]),
