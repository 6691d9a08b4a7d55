"""Test sets, and every system on them: models, trained and untrained, and other people's."""


rule prepare_sts:
    input:
        downloads=downloads(config["evaluation"]["sts"]),
    output:
        testsets="results/testsets/sts.parquet",
    log:
        "results/logs/prepare_sts.log",
    conda:
        "../envs/evaluate.yaml"
    threads: 1
    resources:
        mem_mb=memory("prepare"),
        runtime=runtime("prepare"),
    params:
        code=code_of("prepare_sts"),
    message:
        "Prepare the STS test sets"
    script:
        "../workflow/scripts/prepare_sts.py"


rule initialise_model:
    input:
        dataset=lambda wildcards: f"results/datasets/{DATA_MODELS[wildcards.model]}/train.h5",
        sentencepiece=lambda wildcards: vocabulary_files(wildcards.model),
        vectors=lambda wildcards: initial_vectors(wildcards.model),
    output:
        multiext("results/untrained/{model}/", "model.safetensors", "sentencepiece.model", "config.json"),
    log:
        "results/logs/initialise_model/{model}.log",
    benchmark:
        "results/benchmarks/initialise_model/{model}.tsv"
    conda:
        "../envs/train.yaml"
    threads: 1
    resources:
        mem_mb=memory(model_need("initialise_model")),
        runtime=runtime(model_need("initialise_model")),
    params:
        settings=lambda wildcards: next(iter(sweep_runs(config, wildcards.model).values())),
        architecture=lambda wildcards: architecture_of(config["definitions"][wildcards.model]).to_json(),
        about=lambda wildcards: model_description(wildcards.model),
        code=code_of("initialise_model"),
    message:
        "Write {wildcards.model} as it is before training"
    script:
        "../workflow/scripts/initialise_model.py"


# A system's folder in results/eval is named after it; that of a model before training says so.
rule evaluate_sts:
    input:
        encoder=lambda wildcards: system_files(wildcards.system),
        testsets=rules.prepare_sts.output.testsets,
        official="config/published/sts_digests.json",
    output:
        result="results/eval/{system}/{task,sts|xling_sts|stsb}.json",
        samples="results/eval/{system}/{task}.npz",
    log:
        "results/logs/evaluate_{task}/{system}.log",
    benchmark:
        "results/benchmarks/evaluate_{task}/{system}.tsv"
    conda:
        "../envs/evaluate.yaml"
    threads: 1
    resources:
        mem_mb=memory(task_need),
        runtime=runtime(task_need),
    params:
        encoder=lambda wildcards: system_encoder(wildcards.system),
        evaluation=lambda wildcards: {
            "task": wildcards.task,
            "tracks": tracks_of(wildcards.system) if wildcards.task == "xling_sts" else [],
            "source": system_source(wildcards.system),
            "bootstrap_samples": config["evaluation"]["bootstrap_samples"],
        },
        code=code_of("evaluate_sts"),
    message:
        "Evaluate {wildcards.system} on {wildcards.task}"
    script:
        "../workflow/scripts/evaluate_sts.py"


# Its scores come with it, hence after the model.
rule write_card:
    input:
        config="results/models/{model}/config.json",
        sweep="results/models/{model}/sweep.csv",
        counts=lambda wildcards: f"results/corpora/{DATA_MODELS[wildcards.model]}/counts.json",
        results=lambda wildcards: card_results(wildcards.model),
        tokenizer=lambda wildcards: tokenizer_files(wildcards.model),
    output:
        card="results/models/{model}/README.md",
    log:
        "results/logs/write_card/{model}.log",
    conda:
        "../envs/evaluate.yaml"
    threads: 1
    resources:
        mem_mb=memory("write_card"),
        runtime=runtime("write_card"),
    params:
        licences=lambda wildcards: {
            name: licence for name, (_, licence) in corpora_of(wildcards.model).items()
        },
        code=code_of("write_card"),
    message:
        "Write the card of {wildcards.model}"
    script:
        "../workflow/scripts/write_card.py"


# For who makes vectors elsewhere.
rule gather_sentences:
    input:
        testsets=testset_tables(),
    output:
        sentences="results/testsets/sentences.txt",
    log:
        "results/logs/gather_sentences.log",
    conda:
        "../envs/evaluate.yaml"
    threads: 1
    resources:
        mem_mb=memory("prepare"),
        runtime=runtime("prepare"),
    params:
        code=code_of("gather_sentences"),
    message:
        "Gather the sentences of all test sets"
    script:
        "../workflow/scripts/gather_sentences.py"


rule prepare_tatoeba:
    input:
        downloads=lambda wildcards: downloads(testsets_of("tatoeba"), (wildcards.language, "en")),
    output:
        testset="results/testsets/tatoeba/{language,[a-z]+}.parquet",
    log:
        "results/logs/prepare_tatoeba/{language}.log",
    conda:
        "../envs/evaluate.yaml"
    threads: 1
    resources:
        mem_mb=memory("prepare"),
        runtime=runtime("prepare"),
    params:
        code=code_of("prepare_tatoeba"),
    message:
        "Prepare Tatoeba's test set in {wildcards.language}"
    script:
        "../workflow/scripts/prepare_tatoeba.py"


rule evaluate_tatoeba:
    input:
        encoder=lambda wildcards: system_files(wildcards.system),
        testsets=lambda wildcards: expand(
            rules.prepare_tatoeba.output.testset, language=evaluated_on("tatoeba", wildcards.system)
        ),
        official="config/published/tatoeba_digests.json",
    output:
        result="results/eval/{system}/tatoeba.json",
        samples="results/eval/{system}/tatoeba.npz",
    log:
        "results/logs/evaluate_tatoeba/{system}.log",
    benchmark:
        "results/benchmarks/evaluate_tatoeba/{system}.tsv"
    conda:
        "../envs/evaluate.yaml"
    threads: 1
    resources:
        mem_mb=memory(model_need("evaluate_tatoeba")),
        runtime=runtime(model_need("evaluate_tatoeba")),
    params:
        encoder=lambda wildcards: system_encoder(wildcards.system),
        languages=lambda wildcards: evaluated_on("tatoeba", wildcards.system),
        evaluation=lambda wildcards: {
            "source": system_source(wildcards.system),
            "bootstrap_samples": config["evaluation"]["bootstrap_samples"],
        },
        code=code_of("evaluate_tatoeba"),
    message:
        "Evaluate {wildcards.system} on Tatoeba"
    script:
        "../workflow/scripts/evaluate_tatoeba.py"


rule prepare_bucc:
    input:
        downloads=lambda wildcards: downloads(testsets_of("bucc"), languages_of(wildcards.pair)),
    output:
        sentences="results/testsets/bucc/{pair}.parquet",
        gold="results/testsets/bucc/{pair}.gold.parquet",
    log:
        "results/logs/prepare_bucc/{pair}.log",
    benchmark:
        "results/benchmarks/prepare_bucc/{pair}.tsv"
    conda:
        "../envs/evaluate.yaml"
    threads: 1
    resources:
        mem_mb=memory("prepare"),
        runtime=runtime("prepare"),
    params:
        files=lambda wildcards: corpus_files(testsets_of("bucc"), languages_of(wildcards.pair)),
        code=code_of("prepare_bucc"),
    message:
        "Prepare BUCC's sentences in {wildcards.pair}"
    script:
        "../workflow/scripts/prepare_bucc.py"


rule evaluate_bucc:
    input:
        encoder=lambda wildcards: system_files(wildcards.system),
        sentences=lambda wildcards: expand(
            rules.prepare_bucc.output.sentences, pair=evaluated_on("bucc", wildcards.system)
        ),
        gold=lambda wildcards: expand(
            rules.prepare_bucc.output.gold, pair=evaluated_on("bucc", wildcards.system)
        ),
        official="config/published/bucc_digests.json",
    output:
        result="results/eval/{system}/bucc.json",
        samples="results/eval/{system}/bucc.npz",
    log:
        "results/logs/evaluate_bucc/{system}.log",
    benchmark:
        "results/benchmarks/evaluate_bucc/{system}.tsv"
    conda:
        "../envs/evaluate.yaml"
    threads: 4
    resources:
        mem_mb=memory(bucc_needed),
        runtime=runtime(bucc_needed),
    params:
        encoder=lambda wildcards: system_encoder(wildcards.system),
        pairs=lambda wildcards: evaluated_on("bucc", wildcards.system),
        evaluation=lambda wildcards: {
            "source": system_source(wildcards.system),
            "bootstrap_samples": config["evaluation"]["bootstrap_samples"],
        },
        code=code_of("evaluate_bucc"),
    message:
        "Evaluate {wildcards.system} on BUCC"
    script:
        "../workflow/scripts/evaluate_bucc.py"


rule prepare_transfer:
    input:
        downloads=lambda wildcards: sum(transfer_files(wildcards.suite).values(), []),
    output:
        testsets="results/testsets/{suite,senteval|polish}.parquet",
    log:
        "results/logs/prepare_transfer/{suite}.log",
    benchmark:
        "results/benchmarks/prepare_transfer/{suite}.tsv"
    conda:
        "../envs/evaluate.yaml"
    threads: 1
    resources:
        mem_mb=memory("prepare"),
        runtime=runtime("prepare"),
    params:
        files=lambda wildcards: transfer_files(wildcards.suite),
        code=code_of("prepare_transfer"),
    message:
        "Prepare the data of {wildcards.suite}"
    script:
        "../workflow/scripts/prepare_transfer.py"


# One thread, since systems side by side gain more than the threads of one.
rule evaluate_transfer:
    input:
        encoder=lambda wildcards: system_files(wildcards.system),
        testsets="results/testsets/{suite}.parquet",
        official="config/published/{suite}_digests.json",
    output:
        result="results/eval/{system}/{suite,senteval|polish}.json",
        samples="results/eval/{system}/{suite}.npz",
    log:
        "results/logs/evaluate_{suite}/{system}.log",
    benchmark:
        "results/benchmarks/evaluate_{suite}/{system}.tsv"
    conda:
        "../envs/evaluate.yaml"
    threads: 1
    resources:
        mem_mb=memory(task_need),
        runtime=runtime(task_need),
    params:
        encoder=lambda wildcards: system_encoder(wildcards.system),
        evaluation=lambda wildcards: {
            "suite": wildcards.suite,
            "source": system_source(wildcards.system),
            "bootstrap_samples": config["evaluation"]["bootstrap_samples"],
        },
        code=code_of("evaluate_transfer"),
    message:
        "Evaluate {wildcards.system} on {wildcards.suite}"
    script:
        "../workflow/scripts/evaluate_transfer.py"
