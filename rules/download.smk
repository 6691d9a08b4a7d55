"""Fetch the files of the registry; see docs/download.md."""

from dataclasses import asdict


localrules:
    download_file,


rule download_file:
    output:
        destination="resources/downloads/{dataset}/{file}",
    log:
        "results/logs/download_file/{dataset}/{file}.log",
    conda:
        "../envs/pipeline.yaml"
    resources:
        **resources_of("download_file"),
    params:
        function="registry.download:fetch",
        # A new version or digest needs a new download, but a new address or mirror does not: Snakemake never
        # runs a step again because of a parameter that depends on the output.
        version=pipeline.expected_file,
        mirror=lambda wildcards, output: settings.mirror,
        file=lambda wildcards, output: asdict(datasets[wildcards.dataset].file(wildcards.file)),
    message:
        "Download {wildcards.file} of {wildcards.dataset}"
    script:
        "../workflow/scripts/run.py"
