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
    benchmark:
        "results/benchmarks/describe_corpus/{corpus}/{pair}.tsv"
    conda:
        "../envs/pipeline.yaml"
    threads: 1
    resources:
        **resources_of("describe_corpus"),
    params:
        sentences=DESCRIBED_SENTENCES,
        seed=settings.seed,
        code=code_of("describe_corpus"),
    message:
        "Describe {wildcards.corpus} {wildcards.pair}"
    script:
        "../workflow/scripts/describe_corpus.py"
