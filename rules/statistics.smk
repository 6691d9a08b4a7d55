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


rule tabulate_corpora:
    input:
        statistics=models.of_model_corpora("results/statistics/{corpus}/{pair}.json"),
        samples=models.of_model_corpora("results/statistics/{corpus}/{pair}.sample.parquet"),
        merged=models.merged_counts,
        documents=corpora.downloads(settings.statistics.idf),
    output:
        table="results/tables/corpora.csv",
    log:
        "results/logs/tabulate_corpora.log",
    benchmark:
        "results/benchmarks/tabulate_corpora.tsv"
    conda:
        "../envs/corpus.yaml"
    threads: 1
    resources:
        **needs("tabulate_corpora"),
    params:
        corpora=models.model_corpora,
        models=models.table_models,
        languages=corpora.languages_of_files(settings.statistics.idf),
        max_bytes=settings.max_member_bytes,
        code=code_of("tabulate_corpora"),
    message:
        "Tabulate the corpora"
    script:
        "../workflow/scripts/tabulate_corpora.py"


rule tabulate_funnel:
    input:
        selected=models.of_model_corpora("results/selected/{data}/{corpus}/{pair}.counts.json"),
        merged=models.merged_counts,
    output:
        funnel="results/tables/funnel.csv",
        overlap="results/tables/filter_overlap.csv",
    log:
        "results/logs/tabulate_funnel.log",
    conda:
        "../envs/corpus.yaml"
    threads: 1
    resources:
        **needs("tabulate"),
    params:
        corpora=models.model_corpora,
        models=models.table_models,
        code=code_of("tabulate_funnel"),
    message:
        "Tabulate the filter funnel"
    script:
        "../workflow/scripts/tabulate_funnel.py"


rule plot_funnel:
    input:
        funnel=rules.tabulate_funnel.output.funnel,
        overlap=rules.tabulate_funnel.output.overlap,
    output:
        svg="results/figures/funnel.svg",
        png="results/figures/funnel.png",
    log:
        "results/logs/plot_funnel.log",
    conda:
        "../envs/figures.yaml"
    threads: 1
    resources:
        **needs("plot"),
    params:
        code=code_of("plot_funnel"),
    message:
        "Plot the filter funnel"
    script:
        "../workflow/scripts/plot_funnel.py"


rule inspect_model:
    input:
        after=models.study_model_files("inspection", "results/models"),
        before=models.study_model_files("inspection", "results/untrained"),
        selected=models.inspected_files("results/selected/{data}/{corpus}/{pair}.parquet"),
        dropped=models.inspected_files("results/selected/{data}/{corpus}/{pair}.dropped.tsv"),
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
        corpora=models.inspected_corpora,
        settings={key: value for key, value in as_json(settings.inspection).items() if key != "model"},
        code=code_of("inspect_model"),
    message:
        "Look at what a model has learned"
    script:
        "../workflow/scripts/inspect_model.py"


rule plot_map:
    input:
        table=rules.inspect_model.output.map,
    output:
        svg="results/figures/map.svg",
        png="results/figures/map.png",
    log:
        "results/logs/plot_map.log",
    conda:
        "../envs/figures.yaml"
    threads: 1
    resources:
        **needs("plot"),
    params:
        code=code_of("plot_map"),
    message:
        "Draw the map of sentences"
    script:
        "../workflow/scripts/plot_map.py"
