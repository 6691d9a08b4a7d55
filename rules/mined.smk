"""Corpora of paraphrases made from bitext.

With an encoder, the similarity of its sides is measured, and then a sample is taken. With a translator, one side
is translated.
"""


rule measure_similarity:
    input:
        pipeline.mining_system_files,
        pairs=pipeline.bitext,
    output:
        similarity="results/similarity/{mined}/{corpus}/{scatteritem}.parquet",
    log:
        "results/logs/measure_similarity/{mined}/{corpus}/{scatteritem}.log",
    wildcard_constraints:
        mined=one_of(pipeline.mined_by("encoder")),
    conda:
        "../envs/neural.yaml"
    # Shards share the work. If a system uses more threads, a profile can set them (set-threads).
    resources:
        **resources_of("measure_similarity"),
    params:
        **calls("corpus.bitext_similarity:measure_similarity"),
        system=lambda wildcards: settings.mined[wildcards.mined].system,
        languages=lambda wildcards: settings.mined[wildcards.mined].languages,
        shard=shard_of,
    message:
        "Measure the similarity of {wildcards.corpus}'s sides for {wildcards.mined}, shard {wildcards.scatteritem}"
    script:
        "../workflow/scripts/run.py"


rule sample_paraphrases:
    input:
        measured=lambda wildcards: pipeline.mined_shards(wildcards, "similarity", gather.shard),
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
    wildcard_constraints:
        mined=one_of(pipeline.mined_by("encoder")),
    conda:
        "../envs/pipeline.yaml"
    resources:
        **resources_of("sample_paraphrases"),
    params:
        **calls("corpus.mined_paraphrases:sample_paraphrases"),
        min_similarity=lambda wildcards: settings.mined[wildcards.mined].min_similarity,
        seed=settings.seed,
        # Snakemake does not run a step again if only the order of its inputs changes.
        version=lambda wildcards: settings.mined[wildcards.mined].names,
    message:
        "Sample paraphrases for {wildcards.mined}"
    script:
        "../workflow/scripts/run.py"


rule translate_corpus:
    input:
        pipeline.mining_system_files,
        pairs=pipeline.bitext,
    output:
        translated="results/translated/{mined}/{corpus}/{scatteritem}.parquet",
    log:
        "results/logs/translate_corpus/{mined}/{corpus}/{scatteritem}.log",
    wildcard_constraints:
        mined=one_of(pipeline.mined_by("translator")),
    conda:
        "../envs/neural.yaml"
    # Shards share the work on a processor.
    resources:
        **resources_of("translate_corpus"),
        gpu=lambda wildcards: int(settings.mined[wildcards.mined].translator.device == "cuda"),
    params:
        **calls("corpus.translation:translate_corpus"),
        translator=lambda wildcards: as_json(settings.mined[wildcards.mined].translator),
        shard=shard_of,
    message:
        "Translate {wildcards.corpus} for {wildcards.mined}, shard {wildcards.scatteritem}"
    script:
        "../workflow/scripts/run.py"


rule gather_translations:
    input:
        translated=lambda wildcards: pipeline.mined_shards(wildcards, "translated", gather.shard),
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
    wildcard_constraints:
        mined=one_of(pipeline.mined_by("translator")),
    conda:
        "../envs/pipeline.yaml"
    resources:
        **resources_of("gather_translations"),
    params:
        **calls("corpus.translation:gather_translations"),
        seed=settings.seed,
        # Snakemake does not run a step again if only the order of its inputs changes.
        version=lambda wildcards: settings.mined[wildcards.mined].names,
    message:
        "Gather the translations of {wildcards.mined}"
    script:
        "../workflow/scripts/run.py"
