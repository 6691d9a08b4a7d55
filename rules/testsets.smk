"""Test sets, and their sentences as text."""


rule prepare_testsets:
    input:
        download=lambda wildcards: pipeline.downloads(pipeline.testset_name(wildcards.testset)),
    output:
        testsets="results/testsets/{testset}.parquet",
    log:
        "results/logs/prepare_{testset}.log",
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
        files=lambda wildcards: pipeline.downloads(
            pipeline.testset_name("tatoeba"), (wildcards.language, "en")
        ),
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
        archive=lambda wildcards: pipeline.downloads(
            pipeline.testset_name("bucc"), languages_of(wildcards.pair)
        )[0],
    output:
        sentences="results/testsets/bucc/{pair}.parquet",
        gold="results/testsets/bucc/{pair}.gold.parquet",
    log:
        "results/logs/prepare_bucc/{pair}.log",
    resources:
        **resources_of("prepare_bucc"),
    params:
        **calls("evaluation.bitext_data:prepare_bucc"),
        languages=lambda wildcards: pipeline.bucc_file(wildcards).languages,
        members=lambda wildcards: pipeline.bucc_file(wildcards).members,
        # The time of a file outside the project is no reason to run the step again, but another version is.
        version=lambda wildcards: pipeline.bucc_file(wildcards).version,
    message:
        "Prepare BUCC's sentences in {wildcards.pair}"


use rule prepare_testsets as prepare_transfer with:
    input:
        lambda wildcards: sum(pipeline.suite_files(wildcards).values(), []),
    output:
        testsets="results/testsets/{suite}.parquet",
    log:
        "results/logs/prepare_transfer/{suite}.log",
    resources:
        **resources_of("prepare_transfer"),
    params:
        **calls("evaluation.transfer_data:prepare_transfer"),
        suite="{suite}",
        files=pipeline.suite_files,
    message:
        "Prepare the data of {wildcards.suite}"
