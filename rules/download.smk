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
        **needs("download_file"),
    params:
        # Addresses and mirror may change without a new download; version and digest may not.
        version=corpora.expected_file,
    message:
        "Fetch {wildcards.dataset}: {wildcards.file}"
    script:
        "../workflow/scripts/download_file.py"
