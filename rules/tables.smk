"""Tables of results, with published figures beside the measured ones."""

from paraphrastic_pipeline.workflow.functions import TABLES

# What each table is made of: the files, and then the settings, that its function takes (workflow.functions).
TABLE_FILES = {
    "speed": {"measured": "results/eval/speed.json", "published": "config/published/speed.csv"},
    "studies": {
        "sweeps": [f"results/models/{model}/sweep.csv" for _, _, model in models.study_models],
        "sts": [
            f"results/eval/{model}/sts.json"
            for _, _, model in models.study_models
            if settings.evaluation.sts is not None
        ],
        "published": "config/published/studies.csv",
    },
    "sweep": {"sweeps": expand("results/models/{model}/sweep.csv", model=settings.models)},
}
TABLE_SETTINGS = {"studies": {"models": models.study_models}, "sweep": {"models": settings.models}}


rule tabulate_results:
    input:
        unpack(entry_of(TABLE_FILES, "table")),
    output:
        table="results/tables/{table}.csv",
    log:
        "results/logs/tabulate_{table}.log",
    wildcard_constraints:
        table=one_of(TABLE_FILES),
    conda:
        "../envs/pipeline.yaml"
    threads: 1
    resources:
        **resources_of("tabulate"),
    params:
        function=lambda wildcards: TABLES[wildcards.table],
        settings=entry_of(TABLE_SETTINGS, "table"),
        code=lambda wildcards: code_of("tabulate_results", TABLES[wildcards.table]),
    message:
        "Tabulate {wildcards.table}"
    script:
        "../workflow/scripts/tabulate_results.py"


# Tables with further files, or that need other packages or resources.
use rule tabulate_results as tabulate_contamination with:
    input:
        counts=models.of_model_corpora("results/contamination/{data}/{corpus}/{pair}.counts.json"),
    output:
        table="results/tables/contamination.csv",
    log:
        "results/logs/tabulate_contamination.log",
    conda:
        "../envs/pipeline.yaml"
    params:
        function=TABLES["contamination"],
        settings={"corpora": models.model_corpora, "drop": models.dropped_kinds},
        code=code_of("tabulate_results", TABLES["contamination"]),
    message:
        "Tabulate contamination"


use rule tabulate_results as tabulate_corpora with:
    input:
        statistics=models.of_model_corpora("results/statistics/{corpus}/{pair}.json"),
        samples=models.of_model_corpora("results/statistics/{corpus}/{pair}.sample.parquet"),
        merged=models.merged_counts,
    output:
        table="results/tables/corpora.csv",
    log:
        "results/logs/tabulate_corpora.log",
    benchmark:
        "results/benchmarks/tabulate_corpora.tsv"
    conda:
        "../envs/pipeline.yaml"
    resources:
        **resources_of("tabulate_corpora"),
    params:
        function=TABLES["corpora"],
        settings={
            "corpora": models.model_corpora,
            "models": settings.models,
        },
        code=code_of("tabulate_results", TABLES["corpora"]),
    message:
        "Tabulate the corpora"


use rule tabulate_results as tabulate_funnel with:
    input:
        selected=models.of_model_corpora("results/selected/{data}/{corpus}/{pair}.counts.json"),
        merged=models.merged_counts,
    output:
        table="results/tables/funnel.csv",
    log:
        "results/logs/tabulate_funnel.log",
    conda:
        "../envs/pipeline.yaml"
    params:
        function=TABLES["funnel"],
        settings={"corpora": models.model_corpora, "models": settings.models},
        code=code_of("tabulate_results", TABLES["funnel"]),
    message:
        "Tabulate the filter funnel"


use rule tabulate_results as tabulate_language_choice with:
    input:
        overlaps=studies.language_choice_files("results/language_choice/{model}.json"),
        sts=studies.language_choice_files("results/eval/{model}/sts.json"),
        prefixed=studies.language_choice_files("results/eval/{model}/sts.json", prefixed=True),
        uriel=corpora.downloads(settings.language_choice.uriel),
        published="config/published/language_choice_correlations.csv",
    output:
        table="results/tables/language_choice.csv",
        correlations="results/tables/language_choice_correlations.csv",
    log:
        "results/logs/tabulate_language_choice.log",
    benchmark:
        "results/benchmarks/tabulate_language_choice.tsv"
    params:
        function=TABLES["language_choice"],
        settings={"bootstrap_samples": settings.evaluation.bootstrap_samples},
        code=code_of("tabulate_results", TABLES["language_choice"]),
    message:
        "Tabulate the study of languages"


rule tabulate_systems:
    input:
        results=lambda wildcards: results.files(wildcards.table),
        published=results.published_file,
    output:
        table="results/tables/{table}.csv",
        intervals="results/tables/intervals/{table}.csv",
    log:
        "results/logs/tabulate_systems/{table}.log",
    wildcard_constraints:
        table=one_of(results.system_tables),
    conda:
        "../envs/pipeline.yaml"
    threads: 1
    resources:
        **resources_of("tabulate"),
    params:
        systems=lambda wildcards: results.systems(wildcards.table),
        gather=settings.models,
        code=code_of("tabulate_systems"),
    message:
        "Tabulate {wildcards.table}"
    script:
        "../workflow/scripts/tabulate_systems.py"


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
        "../envs/pipeline.yaml"
    threads: 1
    resources:
        **resources_of("tabulate"),
    params:
        caption=lookup(dpath="{table}", within=results.captions),
        code=code_of("render_table"),
    message:
        "Render the table {wildcards.table}"
    script:
        "../workflow/scripts/render_table.py"
