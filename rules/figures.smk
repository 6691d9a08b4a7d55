"""Figures of tables and of trainings."""

from paraphrastic_pipeline.workflow.functions import FIGURES

# The files that the function of each figure takes (workflow.functions).
FIGURE_FILES = {
    name: {"table": f"results/tables/{name}.csv"} for name in ("funnel", "language_choice", "speed")
}


rule plot_figure:
    input:
        unpack(entry_of(FIGURE_FILES, "figure")),
    output:
        svg="results/figures/{figure}.svg",
        png="results/figures/{figure}.png",
    log:
        "results/logs/plot_{figure}.log",
    wildcard_constraints:
        figure=one_of(FIGURE_FILES),
    conda:
        "../envs/pipeline.yaml"
    threads: 1
    resources:
        **resources_of("plot"),
    params:
        function=lambda wildcards: FIGURES[wildcards.figure],
        settings={},
        code=lambda wildcards: code_of("plot_figure", FIGURES[wildcards.figure]),
    message:
        "Plot {wildcards.figure}"
    script:
        "../workflow/scripts/plot_figure.py"


use rule plot_figure as plot_systems with:
    input:
        intervals="results/tables/intervals/{table}.csv",
    output:
        svg="results/figures/{table}.svg",
        png="results/figures/{table}.png",
    log:
        "results/logs/plot_systems/{table}.log",
    wildcard_constraints:
        table=one_of(results.system_tables),
    params:
        function=FIGURES["systems"],
        settings=lambda wildcards: {"title": CAPTIONS[wildcards.table]},
        code=code_of("plot_figure", FIGURES["systems"]),
    message:
        "Plot the systems of {wildcards.table}"


use rule plot_figure as plot_training with:
    input:
        history="results/training/{model}/{run}/training.jsonl",
    output:
        svg="results/figures/training/{model}/{run}.svg",
        png="results/figures/training/{model}/{run}.png",
    log:
        "results/logs/plot_training/{model}/{run}.log",
    params:
        function=FIGURES["training"],
        settings=lambda wildcards: {"title": f"{wildcards.model}, {wildcards.run}"},
        code=code_of("plot_figure", FIGURES["training"]),
    message:
        "Plot the loss and the scores of {wildcards.model}, {wildcards.run}"
