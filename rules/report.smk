"""What a person looks at: a page of all results, and where these come from."""

from paraphrastic.provenance import config_digest

PAGE_TABLES = expand("results/tables/{table}.csv", table=[*TABLES, "ledger"])
PAGE_INTERVALS = expand("results/tables/intervals/{table}.csv", table=SYSTEM_TABLES)
PAGE_FIGURES = expand("results/figures/{figure}.svg", figure=[*FIGURES, *training_figures()])


# Digests of all that a reader could want to have confirmed: tables, figures, models, results of systems.
rule write_provenance:
    input:
        tables=PAGE_TABLES,
        intervals=PAGE_INTERVALS,
        figures=PAGE_FIGURES,
        models=expand(
            "results/models/{model}/{file}", model=config["models"], file=[*MODEL_FILES, "README.md"]
        ),
        results=sorted(
            {path for table in SYSTEM_TABLES for paths in system_results(table).values() for path in paths}
        ),
    output:
        provenance="results/provenance.json",
    log:
        "results/logs/write_provenance.log",
    conda:
        "../envs/evaluate.yaml"
    resources:
        mem_mb=500,
        runtime=10,
    params:
        config=config_digest(config),
        code=code_version("paraphrastic.provenance"),
    message:
        "Write where the results come from"
    script:
        "../workflow/scripts/write_provenance.py"
