"""A page of all results, and a record of where they come from."""

from paraphrastic_pipeline.report.provenance import config_digest

PAGE_TABLES = expand("results/tables/{table}.csv", table=pipeline.tables)
PAGE_INTERVALS = expand("results/tables/intervals/{table}.csv", table=pipeline.system_tables)


# Written after everything that a reader may look at: tables, figures, models and results of systems.
rule write_provenance:
    input:
        files=[
            *PAGE_TABLES,
            *PAGE_INTERVALS,
            *expand("results/figures/{figure}.svg", figure=pipeline.figures),
            *(
                f"results/models/{model}/{name}"
                for model in settings.models
                for name in [*pipeline.model_file_names(model), "README.md"]
            ),
            *sorted({path for table in pipeline.system_tables for path in pipeline.all_results(table)}),
        ],
    output:
        provenance="results/provenance.json",
        sums="results/SHA256SUMS",
    log:
        "results/logs/write_provenance.log",
    conda:
        "../envs/pipeline.yaml"
    resources:
        **resources_of("tabulate"),
    params:
        **calls("report.provenance:write_provenance"),
        # No reason to run again, since it depends on the output; its digest is one.
        config=lambda wildcards, output: config,
        version=config_digest(config),
    message:
        "Write where the results come from"
    script:
        "../workflow/scripts/run.py"


rule write_report:
    input:
        PAGE_TABLES,
        PAGE_INTERVALS,
        expand("results/figures/{figure}.svg", figure=pipeline.figures),
        pipeline.all_results("held_out"),
        rules.write_provenance.output.provenance,
    output:
        output=report(
            "results/report.html",
            category="Summary",
            labels={"shows": "page"},
        ),
    log:
        "results/logs/write_report.log",
    conda:
        "../envs/pipeline.yaml"
    resources:
        **resources_of("tabulate"),
    params:
        **calls("report.page:write_report"),
        results=lambda wildcards: "results",
        captions=pipeline.captions,
        figures=pipeline.figures,
    message:
        "Write the report"
    script:
        "../workflow/scripts/run.py"
