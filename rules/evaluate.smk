"""Test sets, and every model on them, trained and untrained."""


rule prepare_sts:
    input:
        downloads=downloads(config["evaluation"]["sts"]),
    output:
        testsets="results/testsets/sts.parquet",
    log:
        "results/logs/prepare_sts.log",
    conda:
        "../envs/evaluate.yaml"
    resources:
        mem_mb=500,
        runtime=10,
    params:
        code=code_version("paraphrastic.evaluation.sts_data"),
    message:
        "Prepare the STS test sets"
    script:
        "../workflow/scripts/prepare_sts.py"


rule evaluate_sts:
    input:
        model=multiext(
            "results/models/{model}/",
            "model.safetensors",
            "sentencepiece.model",
            "config.json",
        ),
        testsets=rules.prepare_sts.output.testsets,
        official="config/published/sts_digests.json",
    output:
        result="results/eval/{model}/sts.json",
    log:
        "results/logs/evaluate_sts/{model}.log",
    benchmark:
        "results/benchmarks/evaluate_sts/{model}.tsv"
    conda:
        "../envs/evaluate.yaml"
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        bootstrap_samples=config["evaluation"]["bootstrap_samples"],
        code=code_version("paraphrastic.evaluation.sts"),
    message:
        "Evaluate {wildcards.model} on STS"
    script:
        "../workflow/scripts/evaluate_sts.py"


rule evaluate_sts_untrained:
    input:
        dataset=lambda wildcards: f"results/datasets/{DATA_MODELS[wildcards.model]}/train.h5",
        sentencepiece=lambda wildcards: vocabulary_files(wildcards.model),
        vectors=lambda wildcards: initial_vectors(wildcards.model),
        testsets=rules.prepare_sts.output.testsets,
        official="config/published/sts_digests.json",
    output:
        result="results/eval/{model}/sts.untrained.json",
    log:
        "results/logs/evaluate_sts_untrained/{model}.log",
    benchmark:
        "results/benchmarks/evaluate_sts_untrained/{model}.tsv"
    conda:
        "../envs/train.yaml"
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        settings=lambda wildcards: next(iter(sweep_runs(config, wildcards.model).values())),
        structure=lambda wildcards: structure_of(config["definitions"][wildcards.model]).to_json(),
        about=lambda wildcards: model_description(wildcards.model),
        bootstrap_samples=config["evaluation"]["bootstrap_samples"],
        code=code_version("paraphrastic.evaluation.sts", "paraphrastic.training.train"),
    message:
        "Evaluate {wildcards.model} before training on STS"
    script:
        "../workflow/scripts/evaluate_sts_untrained.py"
