"""The evaluation of systems: models, trained and untrained, and other encoders."""

from paraphrastic_pipeline.evaluation.tasks import TASKS


rule initialize_model:
    input:
        dataset=models.of("training_data"),
        sentencepiece=models.of("vocabulary_files"),
        vectors=models.of("initial_vectors"),
        tables=models.of("tables"),
    output:
        multiext("results/untrained/{model}/", "model.safetensors", "sentencepiece.model", "config.json"),
    log:
        "results/logs/initialize_model/{model}.log",
    benchmark:
        "results/benchmarks/initialize_model/{model}.tsv"
    wildcard_constraints:
        model=one_of(models.piece_models),
    conda:
        "../envs/pipeline.yaml"
    threads: 1
    resources:
        **resources_of("initialize_model"),
    params:
        settings=models.first_run,
        architecture=models.of("architecture"),
        about=models.about,
        code=code_of("initialize_model"),
    message:
        "Save model {wildcards.model} as it is before training"
    script:
        "../workflow/scripts/initialize_model.py"


# A system's folder in results/eval has its name; the name of an untrained model says so.
rule evaluate_system:
    input:
        lambda wildcards: evaluations.files(wildcards.system),
        unpack(evaluations.task_files),
    output:
        result="results/eval/{system}/{task}.json",
    log:
        "results/logs/evaluate_{task}/{system}.log",
    benchmark:
        "results/benchmarks/evaluate_{task}/{system}.tsv"
    wildcard_constraints:
        task=one_of(TASKS.keys() - {"bucc", "senteval", "polish"}),
    conda:
        "../envs/neural.yaml"
    threads: 1
    resources:
        **resources_of("evaluate_{task}"),
    params:
        system=lambda wildcards: evaluations.place(wildcards.system),
        evaluation=evaluations.settings,
        function=lambda wildcards: TASKS[wildcards.task].function,
        settings=evaluations.arguments,
        uses_threads=lambda wildcards: TASKS[wildcards.task].threads > 1,
        code=lambda wildcards: code_of("evaluate_system", TASKS[wildcards.task].function),
    message:
        "Evaluate {wildcards.system} on {wildcards.task}"
    script:
        "../workflow/scripts/evaluate_system.py"


# Long evaluations are rules of their own, since a profile can put short ones of a model into one job.
use rule evaluate_system as evaluate_bucc with:
    wildcard_constraints:
        task="bucc",
    threads: TASKS["bucc"].threads


# One thread, since running several systems side by side gains more than threads for one of them.
use rule evaluate_system as evaluate_transfer with:
    wildcard_constraints:
        task="senteval|polish",


# A card shows the model's scores, so it is written after the evaluation.
rule write_card:
    input:
        config="results/models/{model}/config.json",
        sweep="results/models/{model}/sweep.csv",
        counts=lambda wildcards: f"results/corpora/{models.data_models[wildcards.model]}/counts.json",
        results=evaluations.card_results,
        held_out=evaluations.card_held_out,
        tokenizer=evaluations.tokenizer_files,
    output:
        card="results/models/{model}/README.md",
    log:
        "results/logs/write_card/{model}.log",
    conda:
        "../envs/pipeline.yaml"
    threads: 1
    resources:
        **resources_of("write_card"),
    params:
        corpora=models.counted_corpora,
        unknown=models.unknown_text,
        code=code_of("write_card"),
    message:
        "Write the card of {wildcards.model}"
    script:
        "../workflow/scripts/write_card.py"
