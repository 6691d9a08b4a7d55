"""A page of all results, and a record of where they come from."""

from paraphrastic_pipeline.report.provenance import config_digest

PAGE_TABLES = expand("results/tables/{table}.csv", table=results.tables)
PAGE_INTERVALS = expand("results/tables/intervals/{table}.csv", table=results.system_tables)


# Written after everything that a reader may look at: tables, figures, models and results of systems.
rule write_provenance:
    input:
        tables=PAGE_TABLES,
        intervals=PAGE_INTERVALS,
        figures=expand("results/figures/{figure}.svg", figure=results.figures),
        models=[
            f"results/models/{model}/{name}"
            for model in settings.models
            for name in [*corpora.model_file_names(model), "README.md"]
        ],
        results=sorted({path for table in results.system_tables for path in results.files(table)}),
    output:
        provenance="results/provenance.json",
        sums="results/SHA256SUMS",
    log:
        "results/logs/write_provenance.log",
    conda:
        "../envs/pipeline.yaml"
    threads: 1
    resources:
        **resources_of("tabulate"),
    params:
        config=config_digest(config),
        code=code_of("write_provenance"),
    message:
        "Write where the results come from"
    script:
        "../workflow/scripts/write_provenance.py"


rule write_report:
    input:
        tables=PAGE_TABLES,
        intervals=PAGE_INTERVALS,
        figures=expand("results/figures/{figure}.svg", figure=results.figures),
        held_out=results.files("held_out"),
        provenance=rules.write_provenance.output.provenance,
    output:
        page=report(
            "results/report.html",
            category="Summary",
            labels={"shows": "page"},
        ),
    log:
        "results/logs/write_report.log",
    conda:
        "../envs/pipeline.yaml"
    threads: 1
    resources:
        **resources_of("tabulate"),
    params:
        captions=results.captions,
        figures=results.figures,
        code=code_of("write_report"),
    message:
        "Write the report"
    script:
        "../workflow/scripts/write_report.py"
