"""Test sets, and the evaluation of systems on them: models, trained and untrained, and other encoders."""


rule prepare_sts:
    input:
        downloads=corpora.downloads(settings.evaluation.sts),
    output:
        testsets="results/testsets/sts.parquet",
    log:
        "results/logs/prepare_sts.log",
    conda:
        "../envs/evaluate.yaml"
    threads: 1
    resources:
        **needs("prepare"),
    params:
        code=code_of("prepare_sts"),
    message:
        "Prepare the STS test sets"
    script:
        "../workflow/scripts/prepare_sts.py"


rule initialise_model:
    input:
        dataset=models.of("training_data"),
        sentencepiece=models.of("vocabulary_files"),
        vectors=models.of("initial_vectors"),
    output:
        multiext("results/untrained/{model}/", "model.safetensors", "sentencepiece.model", "config.json"),
    log:
        "results/logs/initialise_model/{model}.log",
    benchmark:
        "results/benchmarks/initialise_model/{model}.tsv"
    wildcard_constraints:
        model=one_of(models.piece_models),
    conda:
        "../envs/train.yaml"
    threads: 1
    resources:
        **needs("initialise_model"),
    params:
        settings=models.first_run,
        architecture=models.of("architecture"),
        about=models.about,
        code=code_of("initialise_model"),
    message:
        "Save model {wildcards.model} as it is before training"
    script:
        "../workflow/scripts/initialise_model.py"


# A system's folder in results/eval has its name; the name of an untrained model says so.
rule evaluate_sts:
    input:
        system=lambda wildcards: evaluations.files(wildcards.system),
        testsets=rules.prepare_sts.output.testsets,
        official="config/published/sts_digests.json",
    output:
        result="results/eval/{system}/{task}.json",
        samples="results/eval/{system}/{task}.npz",
    log:
        "results/logs/evaluate_{task}/{system}.log",
    benchmark:
        "results/benchmarks/evaluate_{task}/{system}.tsv"
    conda:
        "../envs/evaluate.yaml"
    threads: 1
    resources:
        **needs("evaluate_{task}"),
    params:
        system=lambda wildcards: evaluations.place(wildcards.system),
        evaluation=evaluations.settings,
        code=code_of("evaluate_sts"),
    message:
        "Evaluate {wildcards.system} on {wildcards.task}"
    script:
        "../workflow/scripts/evaluate_sts.py"


# A card shows the model's scores, so it is written after the evaluation.
rule write_card:
    input:
        config="results/models/{model}/config.json",
        sweep="results/models/{model}/sweep.csv",
        counts=lambda wildcards: f"results/corpora/{models.data_models[wildcards.model]}/counts.json",
        selected=models.selected_counts,
        results=evaluations.card_results,
        tokenizer=evaluations.tokenizer_files,
    output:
        card="results/models/{model}/README.md",
    log:
        "results/logs/write_card/{model}.log",
    conda:
        "../envs/evaluate.yaml"
    threads: 1
    resources:
        **needs("write_card"),
    params:
        corpora=models.counted_corpora,
        unknown=models.unknown_text,
        code=code_of("write_card"),
    message:
        "Write the card of {wildcards.model}"
    script:
        "../workflow/scripts/write_card.py"


# With this file, anyone can embed the test sentences with another program.
rule gather_sentences:
    input:
        testsets=evaluations.prepared_testsets,
    output:
        sentences="results/testsets/sentences.txt",
    log:
        "results/logs/gather_sentences.log",
    conda:
        "../envs/evaluate.yaml"
    threads: 1
    resources:
        **needs("prepare"),
    params:
        code=code_of("gather_sentences"),
    message:
        "Gather the sentences of all test sets"
    script:
        "../workflow/scripts/gather_sentences.py"


rule prepare_tatoeba:
    input:
        downloads=lambda wildcards: corpora.downloads(
            evaluations.testsets("tatoeba"), (wildcards.language, "en")
        ),
    output:
        testset="results/testsets/tatoeba/{language,[a-z]+}.parquet",
    log:
        "results/logs/prepare_tatoeba/{language}.log",
    conda:
        "../envs/evaluate.yaml"
    threads: 1
    resources:
        **needs("prepare"),
    params:
        code=code_of("prepare_tatoeba"),
    message:
        "Prepare Tatoeba's test set in {wildcards.language}"
    script:
        "../workflow/scripts/prepare_tatoeba.py"


rule evaluate_tatoeba:
    input:
        system=lambda wildcards: evaluations.files(wildcards.system),
        testsets=evaluations.part_files("tatoeba", "results/testsets/tatoeba/{language}.parquet"),
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
        **needs("evaluate_tatoeba"),
    params:
        system=lambda wildcards: evaluations.place(wildcards.system),
        languages=lambda wildcards: evaluations.evaluated("tatoeba", wildcards.system),
        evaluation=evaluations.settings,
        code=code_of("evaluate_tatoeba"),
    message:
        "Evaluate {wildcards.system} on Tatoeba"
    script:
        "../workflow/scripts/evaluate_tatoeba.py"


rule prepare_probes:
    input:
        downloads=corpora.downloads(settings.evaluation.probes),
    output:
        testsets="results/testsets/probes.parquet",
    log:
        "results/logs/prepare_probes.log",
    conda:
        "../envs/evaluate.yaml"
    threads: 1
    resources:
        **needs("prepare"),
    params:
        code=code_of("prepare_probes"),
    message:
        "Prepare the probes"
    script:
        "../workflow/scripts/prepare_probes.py"


rule evaluate_probes:
    input:
        system=lambda wildcards: evaluations.files(wildcards.system),
        testsets=rules.prepare_probes.output.testsets,
        official="config/published/probes_digests.json",
    output:
        result="results/eval/{system}/probes.json",
        samples="results/eval/{system}/probes.npz",
    log:
        "results/logs/evaluate_probes/{system}.log",
    conda:
        "../envs/evaluate.yaml"
    threads: 1
    resources:
        **needs("evaluate_probes"),
    params:
        system=lambda wildcards: evaluations.place(wildcards.system),
        evaluation=evaluations.settings,
        code=code_of("evaluate_probes"),
    message:
        "Evaluate {wildcards.system} on the probes"
    script:
        "../workflow/scripts/evaluate_probes.py"


rule prepare_bucc:
    input:
        downloads=lambda wildcards: corpora.downloads(
            evaluations.testsets("bucc"), languages_of(wildcards.pair)
        ),
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
        **needs("prepare"),
    params:
        files=lambda wildcards: corpora.described_files(
            evaluations.testsets("bucc"), languages_of(wildcards.pair)
        ),
        code=code_of("prepare_bucc"),
    message:
        "Prepare BUCC's sentences in {wildcards.pair}"
    script:
        "../workflow/scripts/prepare_bucc.py"


rule evaluate_bucc:
    input:
        system=lambda wildcards: evaluations.files(wildcards.system),
        sentences=evaluations.part_files("bucc", "results/testsets/bucc/{pair}.parquet"),
        gold=evaluations.part_files("bucc", "results/testsets/bucc/{pair}.gold.parquet"),
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
        **needs("evaluate_bucc"),
    params:
        system=lambda wildcards: evaluations.place(wildcards.system),
        pairs=lambda wildcards: evaluations.evaluated("bucc", wildcards.system),
        evaluation=evaluations.settings,
        code=code_of("evaluate_bucc"),
    message:
        "Evaluate {wildcards.system} on BUCC"
    script:
        "../workflow/scripts/evaluate_bucc.py"


rule prepare_transfer:
    input:
        downloads=lambda wildcards: sum(evaluations.suite_files(wildcards).values(), []),
    output:
        testsets="results/testsets/{suite}.parquet",
    log:
        "results/logs/prepare_transfer/{suite}.log",
    benchmark:
        "results/benchmarks/prepare_transfer/{suite}.tsv"
    conda:
        "../envs/evaluate.yaml"
    threads: 1
    resources:
        **needs("prepare"),
    params:
        files=evaluations.suite_files,
        code=code_of("prepare_transfer"),
    message:
        "Prepare the data of {wildcards.suite}"
    script:
        "../workflow/scripts/prepare_transfer.py"


# One thread, since running several systems side by side gains more than threads for one of them.
rule evaluate_transfer:
    input:
        system=lambda wildcards: evaluations.files(wildcards.system),
        testsets="results/testsets/{suite}.parquet",
        official="config/published/{suite}_digests.json",
    output:
        result="results/eval/{system}/{suite}.json",
        samples="results/eval/{system}/{suite}.npz",
    log:
        "results/logs/evaluate_{suite}/{system}.log",
    benchmark:
        "results/benchmarks/evaluate_{suite}/{system}.tsv"
    conda:
        "../envs/evaluate.yaml"
    threads: 1
    resources:
        **needs("evaluate_{suite}"),
    params:
        system=lambda wildcards: evaluations.place(wildcards.system),
        evaluation=evaluations.settings,
        code=code_of("evaluate_transfer"),
    message:
        "Evaluate {wildcards.system} on {wildcards.suite}"
    script:
        "../workflow/scripts/evaluate_transfer.py"
