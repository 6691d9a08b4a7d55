"""Train every run of a model's sweep, and choose the best on STS 2017 en-en."""


rule train_model:
    input:
        dataset=lambda wildcards: f"results/datasets/{DATA_MODELS[wildcards.model]}/train.h5",
        sentencepiece=lambda wildcards: vocabulary_files(wildcards.model),
        vectors=lambda wildcards: initial_vectors(wildcards.model),
        testsets=lambda wildcards: development_testsets(sweep_runs(config, wildcards.model)[wildcards.run]),
    # The checkpoints in the same folder are none of these: Snakemake deletes the outputs of a job that failed.
    output:
        weights="results/training/{model}/{run}/model.safetensors",
        sentencepiece="results/training/{model}/{run}/sentencepiece.model",
        config="results/training/{model}/{run}/config.json",
        history="results/training/{model}/{run}/training.jsonl",
    log:
        "results/logs/train_model/{model}/{run}.log",
    benchmark:
        "results/benchmarks/train_model/{model}/{run}.tsv"
    conda:
        "../envs/train.yaml"
    # The runs of a sweep share the cores; a profile can give one more (set-threads), which changes no digit.
    threads: 1
    resources:
        mem_mb=memory(training_needed),
        runtime=runtime(training_needed),
        gpu=lambda wildcards: gpus(wildcards.model),
    params:
        settings=lambda wildcards: sweep_runs(config, wildcards.model)[wildcards.run],
        architecture=lambda wildcards: architecture_of(config["definitions"][wildcards.model]).to_json(),
        about=lambda wildcards: model_description(wildcards.model),
        code=lambda wildcards: training_code(sweep_runs(config, wildcards.model)[wildcards.run]),
    message:
        "Train {wildcards.model}, {wildcards.run}"
    script:
        "../workflow/scripts/train_model.py"


rule evaluate_run:
    input:
        model=rules.train_model.output,
        testsets="results/testsets/sts.parquet",
    output:
        score="results/training/{model}/{run}/development.json",
    log:
        "results/logs/evaluate_run/{model}/{run}.log",
    benchmark:
        "results/benchmarks/evaluate_run/{model}/{run}.tsv"
    conda:
        "../envs/evaluate.yaml"
    threads: 1
    resources:
        mem_mb=memory(model_need("evaluate_run")),
        runtime=runtime(model_need("evaluate_run")),
    params:
        code=code_of("evaluate_run"),
    message:
        "Score {wildcards.model}, {wildcards.run}, on STS 2017 en-en"
    script:
        "../workflow/scripts/evaluate_run.py"


rule choose_model:
    input:
        scores=lambda wildcards: expand(
            "results/training/{model}/{run}/development.json",
            model=wildcards.model,
            run=sweep_runs(config, wildcards.model),
        ),
        models=lambda wildcards: expand(
            "results/training/{model}/{run}/{file}",
            model=wildcards.model,
            run=sweep_runs(config, wildcards.model),
            file=["model.safetensors", "sentencepiece.model", "config.json"],
        ),
    output:
        weights="results/models/{model}/model.safetensors",
        sentencepiece="results/models/{model}/sentencepiece.model",
        config="results/models/{model}/config.json",
        sweep="results/models/{model}/sweep.csv",
    log:
        "results/logs/choose_model/{model}.log",
    conda:
        "../envs/train.yaml"
    threads: 1
    resources:
        mem_mb=memory(model_need("choose_model")),
        runtime=runtime(model_need("choose_model")),
    params:
        code=code_of("choose_model"),
    message:
        "Choose the best run of {wildcards.model}"
    script:
        "../workflow/scripts/choose_model.py"


# With these two files, sentence-transformers and model2vec load the folder of a model that is one average.
rule convert_tokenizer:
    input:
        sentencepiece="results/models/{model}/sentencepiece.model",
        config="results/models/{model}/config.json",
    output:
        tokenizer="results/models/{model}/tokenizer.json",
        modules="results/models/{model}/modules.json",
    log:
        "results/logs/convert_tokenizer/{model}.log",
    conda:
        "../envs/train.yaml"
    threads: 1
    resources:
        mem_mb=memory("convert_tokenizer"),
        runtime=runtime("convert_tokenizer"),
    params:
        code=code_of("convert_tokenizer"),
    message:
        "Convert the tokenizer of {wildcards.model}"
    script:
        "../workflow/scripts/convert_tokenizer.py"
