"""Tables of results, with published figures beside the measured ones."""


rule tabulate_systems:
    input:
        results=lambda wildcards: results.files(wildcards.table),
        samples=lambda wildcards: sample_files(results.files(wildcards.table)),
        published=results.published_file,
    output:
        table="results/tables/{table}.csv",
        intervals="results/tables/intervals/{table}.csv",
    log:
        "results/logs/tabulate_systems/{table}.log",
    wildcard_constraints:
        table=one_of(results.system_tables),
    conda:
        "../envs/evaluate.yaml"
    threads: 1
    resources:
        **needs("tabulate"),
    params:
        systems=lambda wildcards: results.systems(wildcards.table),
        gather=settings.models,
        code=code_of("tabulate_systems"),
    message:
        "Tabulate {wildcards.table}"
    script:
        "../workflow/scripts/tabulate_systems.py"


rule plot_systems:
    input:
        intervals="results/tables/intervals/{table}.csv",
    output:
        svg="results/figures/{table}.svg",
        png="results/figures/{table}.png",
    log:
        "results/logs/plot_systems/{table}.log",
    wildcard_constraints:
        table=one_of(results.system_tables),
    conda:
        "../envs/figures.yaml"
    threads: 1
    resources:
        **needs("plot"),
    params:
        title=lookup(dpath="{table}", within=CAPTIONS),
        code=code_of("plot_systems"),
    message:
        "Plot the systems of {wildcards.table}"
    script:
        "../workflow/scripts/plot_systems.py"


rule tabulate_differences:
    input:
        results=list(results.differing.values()),
        samples=sample_files(results.differing.values()),
        published="config/published/dataset_differences.csv",
    output:
        table="results/tables/dataset_differences.csv",
    log:
        "results/logs/tabulate_differences.log",
    conda:
        "../envs/evaluate.yaml"
    threads: 1
    resources:
        **needs("tabulate"),
    params:
        systems=list(results.differing),
        code=code_of("tabulate_differences"),
    message:
        "Tabulate how systems differ from data set to data set"
    script:
        "../workflow/scripts/tabulate_differences.py"


# Lists every cell of every published table, whether or not it was reproduced here.
rule write_ledger:
    input:
        published=expand("config/published/{table}.csv", table=results.published),
        intervals=expand("results/tables/intervals/{table}.csv", table=results.system_tables),
        tables=expand("results/tables/{table}.csv", table=results.compared),
    output:
        ledger="results/tables/ledger.csv",
    log:
        "results/logs/write_ledger.log",
    conda:
        "../envs/evaluate.yaml"
    threads: 1
    resources:
        **needs("tabulate"),
    params:
        run=results.ledger_run,
        code=code_of("write_ledger"),
    message:
        "Write the ledger"
    script:
        "../workflow/scripts/write_ledger.py"


rule tabulate_sweep:
    input:
        sweeps=expand("results/models/{model}/sweep.csv", model=settings.models),
    output:
        table="results/tables/sweep.csv",
    log:
        "results/logs/tabulate_sweep.log",
    conda:
        "../envs/evaluate.yaml"
    threads: 1
    resources:
        **needs("tabulate"),
    params:
        models=settings.models,
        code=code_of("tabulate_sweep"),
    message:
        "Tabulate the sweeps"
    script:
        "../workflow/scripts/tabulate_sweep.py"


rule tabulate_studies:
    input:
        sweeps=[f"results/models/{model}/sweep.csv" for _, _, model in models.study_models],
        sts=[f"results/eval/{model}/sts.json" for _, _, model in models.study_models],
        published="config/published/studies.csv",
    output:
        table="results/tables/studies.csv",
    log:
        "results/logs/tabulate_studies.log",
    conda:
        "../envs/evaluate.yaml"
    threads: 1
    resources:
        **needs("tabulate"),
    params:
        models=models.study_models,
        code=code_of("tabulate_studies"),
    message:
        "Tabulate the studies"
    script:
        "../workflow/scripts/tabulate_studies.py"


rule tabulate_negatives:
    input:
        model=models.study_model_files("negatives", "results/models"),
        pairs=models.study_file("negatives", "results/corpora/{data}/pairs.parquet"),
    output:
        table="results/tables/negatives.csv",
    log:
        "results/logs/tabulate_negatives.log",
    benchmark:
        "results/benchmarks/tabulate_negatives.tsv"
    conda:
        "../envs/train.yaml"
    threads: 1
    resources:
        **needs("tabulate_negatives"),
    params:
        negatives=models.negatives_settings,
        code=code_of("tabulate_negatives"),
    message:
        "Tabulate the negatives of a model"
    script:
        "../workflow/scripts/tabulate_negatives.py"


rule plot_sweep:
    input:
        table=rules.tabulate_sweep.output.table,
    output:
        svg="results/figures/sweep.svg",
        png="results/figures/sweep.png",
    log:
        "results/logs/plot_sweep.log",
    conda:
        "../envs/figures.yaml"
    threads: 1
    resources:
        **needs("plot"),
    params:
        code=code_of("plot_sweep"),
    message:
        "Plot the sweeps"
    script:
        "../workflow/scripts/plot_sweep.py"


rule plot_training:
    input:
        history="results/training/{model}/{run}/training.jsonl",
    output:
        svg="results/figures/training/{model}/{run}.svg",
        png="results/figures/training/{model}/{run}.png",
    log:
        "results/logs/plot_training/{model}/{run}.log",
    conda:
        "../envs/figures.yaml"
    threads: 1
    resources:
        **needs("plot"),
    params:
        title="{model}, {run}",
        code=code_of("plot_training"),
    message:
        "Plot the loss and the scores of {wildcards.model}, {wildcards.run}"
    script:
        "../workflow/scripts/plot_training.py"


rule render_table:
    input:
        table="results/tables/{table}.csv",
        intervals=results.intervals,
    output:
        markdown="results/tables/{table}.md",
        latex="results/tables/{table}.tex",
    log:
        "results/logs/render_table/{table}.log",
    conda:
        "../envs/evaluate.yaml"
    threads: 1
    resources:
        **needs("tabulate"),
    params:
        caption=lookup(dpath="{table}", within=results.captions),
        code=code_of("render_table"),
    message:
        "Render the table {wildcards.table}"
    script:
        "../workflow/scripts/render_table.py"
