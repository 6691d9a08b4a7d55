"""Train every run of a model's sweep, and choose the best on development data."""


# What embeddings begin as with `init: teacher`: the teacher's vectors of the pieces, and of a sample of sentences,
# to which tables are fitted.
rule embed_pieces:
    input:
        dataset=models.of("training_data"),
        sentencepiece=models.of("vocabulary_files"),
        system=lambda wildcards: evaluations.files(wildcards.system),
    output:
        vectors="results/teachers/{model}/{system}/pieces.h5",
    log:
        "results/logs/embed_pieces/{model}/{system}.log",
    benchmark:
        "results/benchmarks/embed_pieces/{model}/{system}.tsv"
    conda:
        "../envs/neural.yaml"
    threads: all_cores
    resources:
        **resources_of("embed_pieces"),
    params:
        system=lambda wildcards: evaluations.place(wildcards.system),
        code=code_of("embed_pieces"),
    message:
        "Embed the pieces of {wildcards.model} with {wildcards.system}"
    script:
        "../workflow/scripts/embed_pieces.py"


# The parts that are done lie beside the output, so that a step that was killed goes on.
rule embed_sample:
    input:
        pairs=models.of("pairs"),
        system=lambda wildcards: evaluations.files(wildcards.system),
    output:
        vectors="results/teachers/{model}/{system}/sample.h5",
    log:
        "results/logs/embed_sample/{model}/{system}.log",
    benchmark:
        "results/benchmarks/embed_sample/{model}/{system}.tsv"
    conda:
        "../envs/neural.yaml"
    threads: all_cores
    resources:
        **resources_of("embed_sample"),
    params:
        system=lambda wildcards: evaluations.place(wildcards.system),
        languages=models.languages_of_corpora,
        known=lambda wildcards: models.known_to(wildcards.system),
        texts=models.of("texts"),
        sentences=lambda wildcards: models.definition(wildcards).training.teacher_sentences,
        code=code_of("embed_sample"),
    message:
        "Embed a sample of the sentences of {wildcards.model} with {wildcards.system}"
    script:
        "../workflow/scripts/embed_sample.py"


rule fit_tables:
    input:
        dataset=models.of("training_data"),
        pieces=rules.embed_pieces.output.vectors,
        sample=rules.embed_sample.output.vectors,
    output:
        tables="results/teachers/{model}/{system}/tables.h5",
    log:
        "results/logs/fit_tables/{model}/{system}.log",
    benchmark:
        "results/benchmarks/fit_tables/{model}/{system}.tsv"
    conda:
        "../envs/pipeline.yaml"
    threads: all_cores
    resources:
        **resources_of("fit_tables"),
    params:
        code=code_of("fit_tables"),
    message:
        "Fit the tables of {wildcards.model} to the vectors of {wildcards.system}"
    script:
        "../workflow/scripts/fit_tables.py"


rule train_model:
    input:
        dataset=models.of("training_data"),
        sentencepiece=models.of("vocabulary_files"),
        vectors=models.of("initial_vectors"),
        tables=models.of("tables"),
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
        "../envs/pipeline.yaml"
    # The runs of a configuration share the cores of a machine. A profile can give them other threads
    # (set-threads); results stay the same to the last digit.
    threads: models.training_threads(workflow)
    resources:
        **resources_of("train_model"),
        # If the device is `auto`, a profile says whether there is a GPU (set-resources).
        gpu=lambda wildcards: int(models.definition(wildcards).training.device == "cuda"),
    params:
        settings=models.run,
        architecture=models.of("architecture"),
        about=models.about,
        # No reason to train again: Snakemake never compares a parameter that depends on the output.
        watching=lambda wildcards, output: models.watching(wildcards),
        code=lambda wildcards: code_of("train_model", without=models.uncounted_modules(wildcards)),
    message:
        "Train model {wildcards.model}, {wildcards.run}"
    script:
        "../workflow/scripts/train_model.py"


# With `training.soup`, a run is the average of several trainings.
ruleorder: average_runs > train_model


rule average_runs:
    input:
        models=models.of_members("results/training/{model}/{run}/model.safetensors"),
        folders=models.of_members(
            "results/training/{model}/{run}/sentencepiece.model",
            "results/training/{model}/{run}/config.json",
        ),
    output:
        weights="results/training/{model}/{run}/model.safetensors",
        sentencepiece="results/training/{model}/{run}/sentencepiece.model",
        config="results/training/{model}/{run}/config.json",
    log:
        "results/logs/average_runs/{model}/{run}.log",
    wildcard_constraints:
        model=one_of(models.soups),
        run=r"[^/]+-megabatch-\d+",
    conda:
        "../envs/pipeline.yaml"
    threads: 1
    resources:
        **resources_of("average_runs"),
    params:
        code=code_of("average_runs"),
    message:
        "Average the trainings of model {wildcards.model}, {wildcards.run}"
    script:
        "../workflow/scripts/average_runs.py"


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
        "../envs/neural.yaml"
    threads: 1
    resources:
        **resources_of("evaluate_run"),
    params:
        choose_by=lambda wildcards: models.definition(wildcards).choose_by,
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
        "../envs/pipeline.yaml"
    threads: 1
    resources:
        **resources_of("choose_model"),
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
        "../envs/pipeline.yaml"
    threads: 1
    resources:
        **resources_of("convert_tokenizer"),
    params:
        code=code_of("convert_tokenizer"),
    message:
        "Convert the tokenizer of {wildcards.model}"
    script:
        "../workflow/scripts/convert_tokenizer.py"
