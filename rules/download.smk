"""Fetch the files of the registry, each with its digest checked; see docs/download.md."""

from dataclasses import asdict

from paraphrastic.registry.lock import CONFIGFILES

# For the command that a step names where a download is damaged.
os.environ[CONFIGFILES] = "\n".join(os.path.relpath(path) for path in workflow.overwrite_configfiles)


localrules:
    download_file,


# The lock has the digest of the first download, which later ones must have as well: it is updated and never
# deleted. Steps that read a file verify it by the lock beside it, which for them is part of the file.
rule download_file:
    output:
        file="resources/downloads/{dataset}/{file}",
        lock=update("resources/downloads/{dataset}/{file}.lock"),
    log:
        "results/logs/download_file/{dataset}/{file}.log",
    wildcard_constraints:
        file=r".+(?<!\.lock)",
    conda:
        "../envs/download.yaml"
    threads: 1
    resources:
        **needs("download_file"),
    params:
        # Addresses and mirror may change without a new download; version and digest may not. Snakemake leaves
        # a parameter that depends on the output out of what makes it run a step again.
        version=corpora.expected_file,
        file=lambda wildcards, output: asdict(datasets[wildcards.dataset].file(wildcards.file)),
    message:
        "Fetch {wildcards.dataset}: {wildcards.file}"
    script:
        "../workflow/scripts/download_file.py"
