"""Train every run of a model's sweep, and choose the best on development data."""


# What another system thinks of the training data, for models that learn from it.
rule embed_teacher:
    input:
        pairs="results/corpora/{model}/pairs.parquet",
        system=lambda wildcards: evaluations.files(wildcards.system),
    output:
        vectors="results/teachers/{model}/{system}.h5",
    log:
        "results/logs/embed_teacher/{model}/{system}.log",
    benchmark:
        "results/benchmarks/embed_teacher/{model}/{system}.tsv"
    conda:
        "../envs/encode.yaml"
    # More threads help a Transformer (set-threads).
    threads: 1
    resources:
        **needs("embed_teacher"),
    params:
        system=lambda wildcards: evaluations.place(wildcards.system),
        languages=lambda wildcards: models.definition(wildcards).languages,
        code=code_of("embed_teacher"),
    message:
        "Embed the pairs of {wildcards.model} with {wildcards.system}"
    script:
        "../workflow/scripts/embed_teacher.py"


rule train_model:
    input:
        dataset=models.of("training_data"),
        sentencepiece=models.of("vocabulary_files"),
        vectors=models.of("initial_vectors"),
        teacher=models.of("teacher"),
        held_out=models.development("held_out"),
        testsets=models.development("sts2017"),
    # Checkpoints in the same folder are not outputs, since Snakemake deletes the outputs of a failed job.
    output:
        weights="results/training/{model}/{run}/model.safetensors",
        sentencepiece="results/training/{model}/{run}/sentencepiece.model",
        config="results/training/{model}/{run}/config.json",
        history="results/training/{model}/{run}/training.jsonl",
    log:
        "results/logs/train_model/{model}/{run}.log",
    benchmark:
        "results/benchmarks/train_model/{model}/{run}.tsv"
    wildcard_constraints:
        model=one_of(models.piece_models),
    conda:
        "../envs/train.yaml"
    # The runs of a configuration share the cores of a machine. A profile can give them other threads
    # (set-threads); results stay the same to the last digit.
    threads: models.training_threads(workflow)
    resources:
        **needs("train_model"),
        # If the device is `auto`, a profile says whether there is a GPU (set-resources).
        gpu=lambda wildcards: int(models.definition(wildcards).training.device == "cuda"),
    params:
        settings=models.run,
        architecture=models.of("architecture"),
        about=models.about,
        code=lambda wildcards: code_of("train_model", without=models.uncounted_modules(wildcards)),
    message:
        "Train model {wildcards.model}, {wildcards.run}"
    script:
        "../workflow/scripts/train_model.py"


rule evaluate_run:
    input:
        model=models.model_files("results/training/{model}/{run}"),
        held_out=models.held_out,
        testsets=models.sts2017,
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
        **needs("evaluate_run"),
    params:
        choose_by=lookup(dpath="definitions/{model}/choose_by", within=config),
        code=code_of("evaluate_run"),
    message:
        "Score model {wildcards.model}, {wildcards.run}, on its development data"
    script:
        "../workflow/scripts/evaluate_run.py"


rule choose_model:
    input:
        scores=models.of_runs("results/training/{model}/{run}/development.json"),
        models=models.of_runs(
            "results/training/{model}/{run}/model.safetensors",
            "results/training/{model}/{run}/sentencepiece.model",
            "results/training/{model}/{run}/config.json",
        ),
    output:
        weights="results/models/{model}/model.safetensors",
        sentencepiece="results/models/{model}/sentencepiece.model",
        config="results/models/{model}/config.json",
        sweep="results/models/{model}/sweep.csv",
    log:
        "results/logs/choose_model/{model}.log",
    wildcard_constraints:
        model=one_of(models.piece_models),
    conda:
        "../envs/train.yaml"
    threads: 1
    resources:
        **needs("choose_model"),
    params:
        code=code_of("choose_model"),
    message:
        "Choose the best run of {wildcards.model}"
    script:
        "../workflow/scripts/choose_model.py"


# With these two files, sentence-transformers and model2vec can load a model that is a single average.
rule convert_tokenizer:
    input:
        sentencepiece="results/models/{model}/sentencepiece.model",
        config="results/models/{model}/config.json",
    output:
        tokenizer="results/models/{model}/tokenizer.json",
        modules="results/models/{model}/modules.json",
    log:
        "results/logs/convert_tokenizer/{model}.log",
    wildcard_constraints:
        model=one_of(models.piece_models),
    conda:
        "../envs/train.yaml"
    threads: 1
    resources:
        **needs("convert_tokenizer"),
    params:
        code=code_of("convert_tokenizer"),
    message:
        "Convert the tokenizer of {wildcards.model}"
    script:
        "../workflow/scripts/convert_tokenizer.py"
