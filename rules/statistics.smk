"""Statistics of the corpora, and what filters and merging did to their pairs."""


rule describe_corpus:
    input:
        scored=lambda wildcards: gather.shard(
            f"results/scored/{wildcards.corpus}/{wildcards.pair}/{{scatteritem}}.parquet"
        ),
    output:
        statistics="results/statistics/{corpus}/{pair}.json",
        sample="results/statistics/{corpus}/{pair}.sample.parquet",
    log:
        "results/logs/describe_corpus/{corpus}/{pair}.log",
    conda:
        "../envs/pipeline.yaml"
    resources:
        **resources_of("describe_corpus"),
    params:
        **calls("corpus.statistics:describe_corpus"),
        languages=sides_of,
        sentences=DESCRIBED_SENTENCES,
        seed=settings.seed,
    message:
        "Describe {wildcards.corpus} {wildcards.pair}"
    script:
        "../workflow/scripts/run.py"
