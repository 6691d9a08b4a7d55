"""Figures of tables and of trainings."""

FIGURES = {name: table.figure for name, table in TABLES.items() if table.figure}


rule plot_figure:
    input:
        table="results/tables/{figure}.csv",
    output:
        outputs=multiext("results/figures/{figure}", ".svg", ".png"),
    log:
        "results/logs/plot_{figure}.log",
    wildcard_constraints:
        figure=one_of(FIGURES),
    conda:
        "../envs/pipeline.yaml"
    resources:
        **resources_of("plot"),
    params:
        **calls(lambda wildcards: FIGURES[wildcards.figure]),
    message:
        "Plot {wildcards.figure}"
    script:
        "../workflow/scripts/run.py"


use rule plot_figure as plot_systems with:
    input:
        intervals="results/tables/intervals/{table}.csv",
    output:
        outputs=multiext("results/figures/{table}", ".svg", ".png"),
    log:
        "results/logs/plot_systems/{table}.log",
    wildcard_constraints:
        table=one_of(pipeline.system_tables),
    params:
        **calls("report.figures.systems:plot_systems"),
        title=lambda wildcards: TABLES[wildcards.table].caption,
    message:
        "Plot the systems of {wildcards.table}"


use rule plot_figure as plot_training with:
    input:
        history="results/training/{model}/{run}/training.jsonl",
    output:
        outputs=multiext("results/figures/training/{model}/{run}", ".svg", ".png"),
    log:
        "results/logs/plot_training/{model}/{run}.log",
    params:
        **calls("report.figures.training:plot_training"),
        title="{model}, {run}",
    message:
        "Plot the loss and the scores of {wildcards.model}, {wildcards.run}"
