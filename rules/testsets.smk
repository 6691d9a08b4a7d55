"""Test sets, and their sentences as text."""


# STS. If the contamination check has another data set than the evaluation, that is prepared for this `use` alone.
rule prepare_testsets:
    input:
        download=evaluations.testset_file,
    output:
        testsets="results/testsets/{testset}{use}.parquet",
    log:
        "results/logs/prepare_{testset}{use}.log",
    wildcard_constraints:
        testset="sts",
    conda:
        "../envs/pipeline.yaml"
    resources:
        **resources_of("prepare_testsets"),
    params:
        **calls("evaluation.sts_data:prepare_sts"),
    message:
        "Prepare the test sets {wildcards.testset}"
    script:
        "../workflow/scripts/run.py"


use rule prepare_testsets as prepare_tatoeba with:
    input:
        files=lambda wildcards: corpora.downloads(evaluations.testsets("tatoeba"), (wildcards.language, "en")),
    output:
        testset="results/testsets/tatoeba/{language}.parquet",
    log:
        "results/logs/prepare_tatoeba/{language}.log",
    wildcard_constraints:
        language="[a-z]+",
    resources:
        **resources_of("prepare_tatoeba"),
    params:
        **calls("evaluation.bitext_data:prepare_tatoeba"),
    message:
        "Prepare Tatoeba's test set in {wildcards.language}"


use rule prepare_testsets as prepare_bucc with:
    input:
        archive=lambda wildcards: corpora.downloads(
            evaluations.testsets("bucc", wildcards.use), languages_of(wildcards.pair)
        )[0],
    output:
        sentences="results/testsets/bucc{use}/{pair}.parquet",
        gold="results/testsets/bucc{use}/{pair}.gold.parquet",
    log:
        "results/logs/prepare_bucc{use}/{pair}.log",
    resources:
        **resources_of("prepare_bucc"),
    params:
        **calls("evaluation.bitext_data:prepare_bucc"),
        languages=lambda wildcards: evaluations.bucc_file(wildcards).languages,
        members=lambda wildcards: evaluations.bucc_file(wildcards).members,
        # The time of a file outside the project is no reason to run the step again, but another version is.
        version=lambda wildcards: evaluations.bucc_file(wildcards).version,
    message:
        "Prepare BUCC's sentences in {wildcards.pair}"


use rule prepare_testsets as prepare_transfer with:
    input:
        lambda wildcards: sum(evaluations.suite_files(wildcards).values(), []),
    output:
        testsets="results/testsets/{suite}{use}.parquet",
    log:
        "results/logs/prepare_transfer/{suite}{use}.log",
    resources:
        **resources_of("prepare_transfer"),
    params:
        **calls("evaluation.transfer_data:prepare_transfer"),
        suite="{suite}",
        files=evaluations.suite_files,
    message:
        "Prepare the data of {wildcards.suite}"
