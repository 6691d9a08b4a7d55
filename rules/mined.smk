"""Corpora of paraphrases mined from bitext: measure how similar its sides are, then take a sample."""


rule measure_similarity:
    input:
        pairs=corpora.bitext,
        system=corpora.mining_system_files,
    output:
        similarity="results/similarity/{mined}/{corpus}/{scatteritem}.parquet",
    log:
        "results/logs/measure_similarity/{mined}/{corpus}/{scatteritem}.log",
    benchmark:
        "results/benchmarks/measure_similarity/{mined}/{corpus}/{scatteritem}.tsv"
    conda:
        "../envs/encode.yaml"
    # Shards share the work. If a system uses more threads, a profile can set them (set-threads).
    threads: 1
    resources:
        **needs("measure_similarity"),
    params:
        system=lambda wildcards: mining_system(config["mined"][wildcards.mined]),
        languages=lookup(dpath="mined/{mined}/languages", within=config),
        code=code_of("measure_similarity"),
    message:
        "Measure the similarity of {wildcards.corpus}'s sides for {wildcards.mined}, shard {wildcards.scatteritem}"
    script:
        "../workflow/scripts/measure_similarity.py"


rule sample_paraphrases:
    input:
        measured=lambda wildcards: [
            shard
            for corpus in config["mined"][wildcards.mined]["corpora"]
            for shard in gather.shard(
                f"results/similarity/{wildcards.mined}/{corpus}/{{scatteritem}}.parquet"
            )
        ],
    output:
        pairs="results/pairs/{mined}/{pair}.parquet",
        counts=report(
            "results/pairs/{mined}/{pair}.counts.json",
            caption="../workflow/report/counts.rst",
            category="Corpora",
            labels={"model": "", "corpus": "{mined}", "shows": "counts"},
        ),
        examples=report(
            "results/pairs/{mined}/{pair}.examples.tsv",
            caption="../workflow/report/mined.rst",
            category="Corpora",
            labels={"model": "", "corpus": "{mined}", "shows": "mined paraphrases"},
        ),
    log:
        "results/logs/sample_paraphrases/{mined}/{pair}.log",
    benchmark:
        "results/benchmarks/sample_paraphrases/{mined}/{pair}.tsv"
    conda:
        "../envs/corpus.yaml"
    threads: 1
    resources:
        **needs("sample_paraphrases"),
    params:
        # A parameter, since Snakemake does not run a step again if only the order of its inputs changes.
        corpora=lookup(dpath="mined/{mined}/corpora", within=config),
        min_similarity=lookup(dpath="mined/{mined}/min_similarity", within=config),
        seed=config["seed"],
        code=code_of("sample_paraphrases"),
    message:
        "Sample paraphrases for {wildcards.mined}"
    script:
        "../workflow/scripts/sample_paraphrases.py"
