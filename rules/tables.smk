"""Tables of results, with published figures beside the measured ones."""


rule tabulate_speed:
    input:
        measured="results/eval/speed.json",
        published="config/published/speed.csv",
    output:
        table="results/tables/speed.csv",
    log:
        "results/logs/tabulate_speed.log",
    conda:
        "../envs/pipeline.yaml"
    resources:
        **resources_of("tabulate"),
    params:
        **calls("evaluation.speed:tabulate_speed"),
    message:
        "Tabulate the speed of systems"
    script:
        "../workflow/scripts/run.py"


use rule tabulate_speed as tabulate_sweep with:
    input:
        sweeps=expand("results/models/{model}/sweep.csv", model=settings.models),
    output:
        table="results/tables/sweep.csv",
    log:
        "results/logs/tabulate_sweep.log",
    params:
        **calls("training.model_selection:tabulate_sweep"),
        models=settings.models,
    message:
        "Tabulate the sweeps of training"


use rule tabulate_speed as tabulate_studies with:
    input:
        sweeps=[f"results/models/{model}/sweep.csv" for _, _, model in pipeline.study_models],
        sts=[
            f"results/eval/{model}/sts.json"
            for _, _, model in pipeline.study_models
            if settings.evaluation.sts is not None
        ],
        published="config/published/studies.csv",
    output:
        table="results/tables/studies.csv",
    log:
        "results/logs/tabulate_studies.log",
    params:
        **calls("evaluation.study_tables:tabulate_studies"),
        models=pipeline.study_models,
    message:
        "Tabulate the studies"


use rule tabulate_speed as tabulate_contamination with:
    input:
        counts=pipeline.of_model_corpora("results/contamination/{data}/{corpus}/{pair}.counts.json"),
    output:
        table="results/tables/contamination.csv",
    log:
        "results/logs/tabulate_contamination.log",
    params:
        **calls("corpus.contamination:tabulate_contamination"),
        corpora=pipeline.model_corpora,
        drop=pipeline.dropped_kinds,
    message:
        "Tabulate contamination"


use rule tabulate_speed as tabulate_corpora with:
    input:
        statistics=pipeline.of_model_corpora("results/statistics/{corpus}/{pair}.json"),
        samples=pipeline.of_model_corpora("results/statistics/{corpus}/{pair}.sample.parquet"),
        merged=pipeline.merged_counts,
    output:
        table="results/tables/corpora.csv",
    log:
        "results/logs/tabulate_corpora.log",
    resources:
        **resources_of("tabulate_corpora"),
    params:
        **calls("corpus.statistics:tabulate_corpora"),
        corpora=pipeline.model_corpora,
        models=settings.models,
    message:
        "Tabulate the corpora"


use rule tabulate_speed as tabulate_funnel with:
    input:
        selected=pipeline.of_model_corpora("results/selected/{data}/{corpus}/{pair}.counts.json"),
        merged=pipeline.merged_counts,
    output:
        table="results/tables/funnel.csv",
    log:
        "results/logs/tabulate_funnel.log",
    params:
        **calls("corpus.counts:tabulate_funnel"),
        corpora=pipeline.model_corpora,
        models=settings.models,
    message:
        "Tabulate the filter funnel"


use rule tabulate_speed as tabulate_language_choice with:
    input:
        overlaps=lambda wildcards: pipeline.language_choice_files("results/language_choice/{model}.json"),
        sts=lambda wildcards: pipeline.language_choice_files("results/eval/{model}/sts.json"),
        prefixed=lambda wildcards: pipeline.language_choice_files(
            "results/eval/{model}/sts.json", prefixed=True
        ),
        uriel=pipeline.downloads(settings.language_choice.uriel),
        published="config/published/language_choice_correlations.csv",
    output:
        table="results/tables/language_choice.csv",
        correlations="results/tables/language_choice_correlations.csv",
    log:
        "results/logs/tabulate_language_choice.log",
    params:
        **calls("evaluation.language_choice:tabulate_language_choice"),
        bootstrap_samples=settings.evaluation.bootstrap_samples,
    message:
        "Tabulate the study of languages"


rule tabulate_systems:
    input:
        lambda wildcards: pipeline.all_results(wildcards.table),
        unpack(optional(published=pipeline.published_file)),
    output:
        table="results/tables/{table}.csv",
        intervals="results/tables/intervals/{table}.csv",
    log:
        "results/logs/tabulate_systems/{table}.log",
    wildcard_constraints:
        table=one_of(pipeline.system_tables),
    conda:
        "../envs/pipeline.yaml"
    resources:
        **resources_of("tabulate"),
    params:
        **calls("evaluation.system_tables:tabulate_systems"),
        systems=lambda wildcards: pipeline.table_results(wildcards.table),
        name="{table}",
        gather=settings.models,
    message:
        "Tabulate {wildcards.table}"
    script:
        "../workflow/scripts/run.py"


rule render_table:
    input:
        unpack(optional(intervals=pipeline.intervals)),
        table="results/tables/{table}.csv",
    output:
        markdown="results/tables/{table}.md",
        latex="results/tables/{table}.tex",
    log:
        "results/logs/render_table/{table}.log",
    conda:
        "../envs/pipeline.yaml"
    resources:
        **resources_of("tabulate"),
    params:
        **calls("report.render:render_table"),
        caption=lookup(dpath="{table}", within=pipeline.captions),
    message:
        "Render the table {wildcards.table}"
    script:
        "../workflow/scripts/run.py"
