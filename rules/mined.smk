"""Corpora of paraphrases made from bitext.

With an encoder, the similarity of its sides is measured, and then a sample is taken. With a translator, one side
is translated.
"""


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
    wildcard_constraints:
        mined=one_of(corpora.mined_by("encoder")),
    conda:
        "../envs/neural.yaml"
    # Shards share the work. If a system uses more threads, a profile can set them (set-threads).
    threads: 1
    resources:
        **resources_of("measure_similarity"),
    params:
        system=lambda wildcards: settings.mined[wildcards.mined].system,
        languages=lambda wildcards: settings.mined[wildcards.mined].languages,
        code=code_of("measure_similarity"),
    message:
        "Measure the similarity of {wildcards.corpus}'s sides for {wildcards.mined}, shard {wildcards.scatteritem}"
    script:
        "../workflow/scripts/measure_similarity.py"


rule sample_paraphrases:
    input:
        measured=lambda wildcards: corpora.mined_shards(wildcards, "similarity", gather.shard),
    output:
        pairs="results/pairs/{mined}/{pair}.parquet",
        counts=report(
            "results/pairs/{mined}/{pair}.counts.json",
            category="Corpora",
            labels={"model": "", "corpus": "{mined}", "shows": "counts"},
        ),
        examples=report(
            "results/pairs/{mined}/{pair}.examples.tsv",
            category="Corpora",
            labels={"model": "", "corpus": "{mined}", "shows": "mined paraphrases"},
        ),
    log:
        "results/logs/sample_paraphrases/{mined}/{pair}.log",
    benchmark:
        "results/benchmarks/sample_paraphrases/{mined}/{pair}.tsv"
    wildcard_constraints:
        mined=one_of(corpora.mined_by("encoder")),
    conda:
        "../envs/pipeline.yaml"
    threads: 1
    resources:
        **resources_of("sample_paraphrases"),
    params:
        # A parameter, since Snakemake does not run a step again if only the order of its inputs changes.
        corpora=lambda wildcards: settings.mined[wildcards.mined].names,
        min_similarity=lambda wildcards: settings.mined[wildcards.mined].min_similarity,
        seed=settings.seed,
        code=code_of("sample_paraphrases"),
    message:
        "Sample paraphrases for {wildcards.mined}"
    script:
        "../workflow/scripts/sample_paraphrases.py"


# A job that was killed goes on from its last block, in a folder beside the output.
rule translate_corpus:
    input:
        pairs=corpora.bitext,
        translator=corpora.mining_system_files,
    output:
        translated="results/translated/{mined}/{corpus}/{scatteritem}.parquet",
    log:
        "results/logs/translate_corpus/{mined}/{corpus}/{scatteritem}.log",
    benchmark:
        "results/benchmarks/translate_corpus/{mined}/{corpus}/{scatteritem}.tsv"
    wildcard_constraints:
        mined=one_of(corpora.mined_by("translator")),
    conda:
        "../envs/neural.yaml"
    # Shards share the work on a processor.
    threads: 1
    resources:
        **resources_of("translate_corpus"),
        gpu=lambda wildcards: int(settings.mined[wildcards.mined].translator.device == "cuda"),
    params:
        translator=lambda wildcards: as_json(settings.mined[wildcards.mined].translator),
        code=code_of("translate_corpus"),
    message:
        "Translate {wildcards.corpus} for {wildcards.mined}, shard {wildcards.scatteritem}"
    script:
        "../workflow/scripts/translate_corpus.py"


rule gather_translations:
    input:
        translated=lambda wildcards: corpora.mined_shards(wildcards, "translated", gather.shard),
    output:
        pairs="results/pairs/{mined}/{pair}.parquet",
        counts=report(
            "results/pairs/{mined}/{pair}.counts.json",
            category="Corpora",
            labels={"model": "", "corpus": "{mined}", "shows": "counts"},
        ),
        examples=report(
            "results/pairs/{mined}/{pair}.examples.tsv",
            category="Corpora",
            labels={"model": "", "corpus": "{mined}", "shows": "translations"},
        ),
    log:
        "results/logs/gather_translations/{mined}/{pair}.log",
    benchmark:
        "results/benchmarks/gather_translations/{mined}/{pair}.tsv"
    wildcard_constraints:
        mined=one_of(corpora.mined_by("translator")),
    conda:
        "../envs/pipeline.yaml"
    threads: 1
    resources:
        **resources_of("gather_translations"),
    params:
        # A parameter, since Snakemake does not run a step again if only the order of its inputs changes.
        corpora=lambda wildcards: settings.mined[wildcards.mined].names,
        seed=settings.seed,
        code=code_of("gather_translations"),
    message:
        "Gather the translations of {wildcards.mined}"
    script:
        "../workflow/scripts/gather_translations.py"
