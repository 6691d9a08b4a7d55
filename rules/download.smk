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
    params:
        # Addresses and mirror may change without a new download; another version may not.
        version=lambda wildcards: version_of(wildcards.dataset, wildcards.file),
    message:
        "Fetch {wildcards.dataset}: {wildcards.file}"
    script:
        "../workflow/scripts/download_file.py"
