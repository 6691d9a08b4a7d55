"""Fetch the files of the registry, each with its digest checked; see docs/download.md."""


localrules:
    download_file,


rule download_file:
    output:
        "resources/downloads/{dataset}/{file}",
    log:
        "results/logs/download_file/{dataset}/{file}.log",
    conda:
        "../envs/download.yaml"
    threads: 1
    resources:
        mem_mb=memory("download_file"),
        runtime=runtime("download_file"),
    params:
        # Addresses and mirror may change without a new download; version and digest may not.
        version=lambda wildcards: expected_file(wildcards.dataset, wildcards.file),
    message:
        "Fetch {wildcards.dataset}: {wildcards.file}"
    script:
        "../workflow/scripts/download_file.py"
