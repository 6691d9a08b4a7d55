"""Fetch the files of the registry and check the digest of each; see docs/download.md."""

from dataclasses import asdict

from paraphrastic_pipeline.registry.lock import CONFIGFILES

# If a download is damaged, a step names a command that has these files.
os.environ[CONFIGFILES] = "\n".join(os.path.relpath(path) for path in workflow.overwrite_configfiles)


localrules:
    download_file,


# The lock has the digest of the first download. Later downloads must have it, too, so the lock is updated and
# never deleted. Steps that read a file check it against the lock beside it, which they regard as part of it.
rule download_file:
    output:
        file="resources/downloads/{dataset}/{file}",
        lock=update("resources/downloads/{dataset}/{file}.lock"),
    log:
        "results/logs/download_file/{dataset}/{file}.log",
    wildcard_constraints:
        file=r".+(?<!\.lock)",
    conda:
        "../envs/pipeline.yaml"
    threads: 1
    resources:
        **needs("download_file"),
    params:
        # A new version or digest needs a new download, but a new address or mirror does not: Snakemake never
        # runs a step again because of a parameter that depends on the output.
        version=corpora.expected_file,
        mirror=lambda wildcards, output: settings.mirror,
        file=lambda wildcards, output: asdict(datasets[wildcards.dataset].file(wildcards.file)),
    message:
        "Download {wildcards.file} of {wildcards.dataset}"
    script:
        "../workflow/scripts/download_file.py"
