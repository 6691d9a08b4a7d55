"""The evaluation of systems: models, trained and untrained, and other encoders."""

from paraphrastic_pipeline.evaluation.tasks import TASKS


# A system's folder in results/eval has its name; the name of an untrained model says so.
rule evaluate_system:
    input:
        lambda wildcards: pipeline.system_files(wildcards.system),
        unpack(pipeline.task_files),
    output:
        result="results/eval/{system}/{task}.json",
    log:
        "results/logs/evaluate_{task}/{system}.log",
    wildcard_constraints:
        task=one_of(TASKS.keys() - {"bucc", "senteval", "polish"}),
    conda:
        "../envs/neural.yaml"
    resources:
        **resources_of("evaluate_{task}"),
    params:
        **calls("evaluation.systems:evaluate_system", lambda wildcards: TASKS[wildcards.task].function),
        system=lambda wildcards: pipeline.place(wildcards.system),
        evaluate=lambda wildcards: TASKS[wildcards.task].function,
        settings=pipeline.task_arguments,
        about=pipeline.about_result,
    message:
        "Evaluate {wildcards.system} on {wildcards.task}"
    script:
        "../workflow/scripts/run.py"


# Long evaluations are rules of their own, since a profile can put short ones of a model into one job.
use rule evaluate_system as evaluate_bucc with:
    wildcard_constraints:
        task="bucc",
    threads: 4


# One thread, since running several systems side by side gains more than threads for one of them.
use rule evaluate_system as evaluate_transfer with:
    wildcard_constraints:
        task="senteval|polish",


# A card shows the model's scores, so it is written after the evaluation.
rule write_card:
    input:
        "results/models/{model}/config.json",
        pipeline.tokenizer_files,
        sweep="results/models/{model}/sweep.csv",
        counts=lambda wildcards: f"results/corpora/{pipeline.data_models[wildcards.model]}/counts.json",
        results=pipeline.card_results,
        held_out=pipeline.card_held_out,
    output:
        card="results/models/{model}/README.md",
    log:
        "results/logs/write_card/{model}.log",
    conda:
        "../envs/pipeline.yaml"
    resources:
        **resources_of("write_card"),
    params:
        **calls("report.card:write_card"),
        corpora=pipeline.counted_corpora,
        unknown=pipeline.unknown_text,
        loads_elsewhere=lambda wildcards: bool(pipeline.tokenizer_files(wildcards)),
    message:
        "Write the card of {wildcards.model}"
    script:
        "../workflow/scripts/run.py"
