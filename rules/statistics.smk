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
        "../envs/corpus.yaml"
    threads: 1
    resources:
        **needs("describe_corpus"),
    params:
        sentences=settings.statistics.sentences,
        parsers=settings.statistics.parsers,
        seed=settings.seed,
        code=code_of("describe_corpus"),
    message:
        "Describe {wildcards.corpus} {wildcards.pair}"
    script:
        "../workflow/scripts/describe_corpus.py"


rule inspect_model:
    input:
        after=studies.study_model_files("inspection", "results/models"),
        before=studies.study_model_files("inspection", "results/untrained"),
        selected=studies.inspected_files("results/selected/{data}/{corpus}/{pair}.parquet"),
        dropped=studies.inspected_files("results/selected/{data}/{corpus}/{pair}.dropped.tsv"),
    output:
        neighbours="results/tables/neighbours.csv",
        pieces="results/tables/pieces.csv",
        map="results/eval/map.csv",
        dropped="results/tables/dropped.csv",
    log:
        "results/logs/inspect_model.log",
    benchmark:
        "results/benchmarks/inspect_model.tsv"
    conda:
        "../envs/evaluate.yaml"
    threads: 1
    resources:
        **needs("inspect_model"),
    params:
        corpora=studies.inspected_corpora,
        settings={key: value for key, value in as_json(settings.inspection).items() if key != "model"},
        code=code_of("inspect_model"),
    message:
        "Look at what a model has learned"
    script:
        "../workflow/scripts/inspect_model.py"
