"""Correlations of the scores of models of English and another language (Wieting et al. 2019, section 4.2)."""


rule measure_overlap:
    input:
        dataset=models.of("training_data"),
        sentencepiece=models.of("vocabulary_files"),
    output:
        overlap="results/language_choice/{model}.json",
    log:
        "results/logs/measure_overlap/{model}.log",
    benchmark:
        "results/benchmarks/measure_overlap/{model}.tsv"
    conda:
        "../envs/train.yaml"
    threads: 1
    resources:
        **needs("measure_overlap"),
    params:
        languages=lookup(dpath="definitions/{model}/languages", within=config),
        code=code_of("measure_overlap"),
    message:
        "Measure the overlap of the pieces of {wildcards.model}"
    script:
        "../workflow/scripts/measure_overlap.py"


rule tabulate_language_choice:
    input:
        overlaps=models.language_choice_files("results/language_choice/{model}.json"),
        sts=models.language_choice_files("results/eval/{model}/sts.json"),
        prefixed=models.language_choice_files("results/eval/{model}/sts.json", prefixed=True),
        uriel=corpora.downloads(settings.language_choice.uriel),
        published="config/published/language_choice_correlations.csv",
    output:
        table="results/tables/language_choice.csv",
        correlations="results/tables/language_choice_correlations.csv",
    log:
        "results/logs/tabulate_language_choice.log",
    benchmark:
        "results/benchmarks/tabulate_language_choice.tsv"
    conda:
        "../envs/evaluate.yaml"
    threads: 1
    resources:
        **needs("tabulate"),
    params:
        bootstrap_samples=settings.evaluation.bootstrap_samples,
        max_bytes=settings.max_member_bytes,
        code=code_of("tabulate_language_choice"),
    message:
        "Tabulate the study of languages"
    script:
        "../workflow/scripts/tabulate_language_choice.py"


rule plot_language_choice:
    input:
        table=rules.tabulate_language_choice.output.table,
    output:
        svg="results/figures/language_choice.svg",
        png="results/figures/language_choice.png",
    log:
        "results/logs/plot_language_choice.log",
    conda:
        "../envs/figures.yaml"
    threads: 1
    resources:
        **needs("plot"),
    params:
        code=code_of("plot_language_choice"),
    message:
        "Plot the study of languages"
    script:
        "../workflow/scripts/plot_language_choice.py"
