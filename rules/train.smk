"""Train every run of a model's sweep, and choose the best on development data."""


# What embeddings begin as with `init: teacher`: tables that are fitted to the teacher's vectors of a sample of
# sentences and of the pieces.
rule fit_tables:
    input:
        lambda wildcards: pipeline.system_files(wildcards.system),
        dataset=pipeline.of("training_data"),
        pairs=pipeline.of("pairs"),
        sentencepiece=pipeline.of("vocabulary_files"),
    output:
        tables="results/teachers/{model}/{system}/tables.h5",
    log:
        "results/logs/fit_tables/{model}/{system}.log",
    conda:
        "../envs/neural.yaml"
    threads: all_cores
    resources:
        **resources_of("fit_tables"),
    params:
        **calls("training.teacher:fit_tables"),
        system=lambda wildcards: pipeline.place(wildcards.system),
        sample=pipeline.sample,
    message:
        "Fit the tables of {wildcards.model} to the vectors of {wildcards.system}"
    script:
        "../workflow/scripts/run.py"


rule initialize_model:
    input:
        pipeline.transformer_files,
        unpack(optional(vectors=pipeline.of("initial_vectors"), tables=pipeline.of("tables"))),
        dataset=pipeline.of("training_data"),
        sentencepiece=pipeline.of("vocabulary_files"),
    output:
        multiext("results/untrained/{model}/", "sentencepiece.model", "config.json"),
        weights="results/untrained/{model}/model.safetensors",
    log:
        "results/logs/initialize_model/{model}.log",
    wildcard_constraints:
        model=one_of(pipeline.piece_models),
    conda:
        "../envs/pipeline.yaml"
    resources:
        **resources_of("initialize_model"),
    params:
        **calls("training.initialization:initialize_model", without=pipeline.uncounted_modules),
        definition=pipeline.run,
    message:
        "Save model {wildcards.model} as it is before training"
    script:
        "../workflow/scripts/run.py"


rule train_model:
    input:
        pipeline.transformer_files,
        unpack(
            optional(
                vectors=pipeline.of("initial_vectors"),
                tables=pipeline.of("tables"),
                held_out=pipeline.development("held_out"),
                testsets=pipeline.development("sts2017"),
            )
        ),
        dataset=pipeline.of("training_data"),
        sentencepiece=pipeline.of("vocabulary_files"),
    # Checkpoints in the same folder are not outputs, since Snakemake deletes the outputs of a failed job.
    output:
        multiext("results/training/{model}/{run}/", "sentencepiece.model", "config.json", "training.jsonl"),
        weights="results/training/{model}/{run}/model.safetensors",
    log:
        "results/logs/train_model/{model}/{run}.log",
    wildcard_constraints:
        model=one_of(pipeline.piece_models),
    conda:
        "../envs/pipeline.yaml"
    # The runs of a configuration share the cores of a machine. A profile can give them other threads
    # (set-threads); results stay the same to the last digit.
    threads: training_threads
    resources:
        **resources_of("train_model"),
        # If the device is `auto`, a profile says whether there is a GPU (set-resources).
        gpu=lambda wildcards: int(pipeline.definition(wildcards).training.device == "cuda"),
    params:
        **calls("evaluation.training_runs:train_run", without=pipeline.uncounted_modules),
        definition=pipeline.run,
        # No reason to train again: Snakemake never compares a parameter that depends on the output.
        watching=lambda wildcards, output: {
            "choose_by": pipeline.definition(wildcards).choose_by,
            "checkpoint_minutes": pipeline.definition(wildcards).training.checkpoint_minutes,
        },
    message:
        "Train model {wildcards.model}, {wildcards.run}"
    script:
        "../workflow/scripts/run.py"


# With `training.soup`, a run is the average of several trainings.
ruleorder: average_runs > train_model


rule average_runs:
    input:
        pipeline.of_members(),
        models=pipeline.of_members("model.safetensors"),
    output:
        multiext("results/training/{model}/{run}/", "sentencepiece.model", "config.json"),
        weights="results/training/{model}/{run}/model.safetensors",
    log:
        "results/logs/average_runs/{model}/{run}.log",
    wildcard_constraints:
        model=one_of(pipeline.soups),
        run=r"[^/]+-megabatch-\d+",
    conda:
        "../envs/pipeline.yaml"
    resources:
        **resources_of("average_runs"),
    params:
        **calls("training.model_selection:average_runs"),
    message:
        "Average the trainings of model {wildcards.model}, {wildcards.run}"
    script:
        "../workflow/scripts/run.py"


rule evaluate_run:
    input:
        lambda wildcards: pipeline.model_files(
            wildcards.model, f"results/training/{wildcards.model}/{wildcards.run}"
        ),
        unpack(optional(held_out=pipeline.held_out, testsets=pipeline.sts2017)),
        weights="results/training/{model}/{run}/model.safetensors",
    output:
        score="results/training/{model}/{run}/development.json",
    log:
        "results/logs/evaluate_run/{model}/{run}.log",
    conda:
        "../envs/neural.yaml"
    resources:
        **resources_of("evaluate_run"),
    params:
        **calls("evaluation.development:evaluate_run"),
        choose_by=lambda wildcards: pipeline.definition(wildcards).choose_by,
    message:
        "Score model {wildcards.model}, {wildcards.run}, on its development data"
    script:
        "../workflow/scripts/run.py"


rule choose_model:
    input:
        pipeline.of_runs(),
        scores=pipeline.of_runs("development.json"),
    output:
        multiext("results/models/{model}/", *MODEL_FILES),
        sweep="results/models/{model}/sweep.csv",
    log:
        "results/logs/choose_model/{model}.log",
    wildcard_constraints:
        model=one_of(pipeline.piece_models),
    conda:
        "../envs/pipeline.yaml"
    resources:
        **resources_of("choose_model"),
    params:
        **calls("training.model_selection:choose_model"),
    message:
        "Choose the best run of {wildcards.model}"
    script:
        "../workflow/scripts/run.py"


# With these two files, sentence-transformers and model2vec can load a model that is a single average.
rule convert_tokenizer:
    input:
        multiext("results/models/{model}/", "sentencepiece.model", "config.json"),
    output:
        multiext("results/models/{model}/", "tokenizer.json", "modules.json"),
    log:
        "results/logs/convert_tokenizer/{model}.log",
    wildcard_constraints:
        model=one_of(pipeline.piece_models),
    conda:
        "../envs/pipeline.yaml"
    resources:
        **resources_of("convert_tokenizer"),
    params:
        **calls("paraphrastic.interop.tokenizer:complete_folder"),
        folder=lambda wildcards: f"results/models/{wildcards.model}",
    message:
        "Convert the tokenizer of {wildcards.model}"
    script:
        "../workflow/scripts/run.py"
