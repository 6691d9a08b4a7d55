"""From downloads to the pairs that a model is trained on: extract, score, select and merge."""


rule extract_corpus:
    input:
        downloads=lambda wildcards: pipeline.downloads(wildcards.corpus, languages_of(wildcards.pair)),
    output:
        pairs="results/pairs/{corpus}/{pair}.parquet",
    log:
        "results/logs/extract_corpus/{corpus}/{pair}.log",
    wildcard_constraints:
        corpus=one_of(name for name in pipeline.corpora if name not in settings.mined),
    conda:
        "../envs/pipeline.yaml"
    resources:
        **resources_of("extract_corpus"),
    params:
        **calls("corpus.readers:extract_corpus"),
        kind=lambda wildcards: datasets[wildcards.corpus].kind,
        files=lambda wildcards: pipeline.described_files(wildcards.corpus, languages_of(wildcards.pair)),
        version=lambda wildcards: [
            # That of a file with a path is its digest.
            file.version
            for file in datasets[wildcards.corpus].select(languages_of(wildcards.pair))
        ],
        languages=sides_of,
        max_unreadable=lambda wildcards: settings.extraction.max_unreadable.get(wildcards.corpus, 0.01),
        # Of the pairs that are drawn from groups.
        seed=lambda wildcards: settings.seed if datasets[wildcards.corpus].kind == "groups" else 0,
    message:
        "Read the pairs of corpus {wildcards.corpus}, {wildcards.pair}"
    script:
        "../workflow/scripts/run.py"


rule score_pairs:
    input:
        unpack(
            optional(
                identifier=lambda wildcards: pipeline.downloads(settings.language_id), punkt=pipeline.punkt
            )
        ),
        # A path instead of a rule's output, since another rule makes mined pairs.
        pairs="results/pairs/{corpus}/{pair}.parquet",
    output:
        scored="results/scored/{corpus}/{pair}/{scatteritem}.parquet",
    log:
        "results/logs/score_pairs/{corpus}/{pair}/{scatteritem}.log",
    conda:
        "../envs/pipeline.yaml"
    resources:
        **resources_of("score_pairs"),
    params:
        **calls("corpus.score:score_pairs"),
        languages=sides_of,
        preparation=lambda wildcards: pipeline.preparation(languages_of(wildcards.pair)),
        words=settings.text.words,
        identify=settings.text.identify,
        shard=shard_of,
    message:
        "Measure the pairs of corpus {wildcards.corpus}, {wildcards.pair}, part {wildcards.scatteritem}"
    script:
        "../workflow/scripts/run.py"


rule select_pairs:
    input:
        scored=lambda wildcards: gather.shard(
            f"results/scored/{wildcards.corpus}/{wildcards.pair}/{{scatteritem}}.parquet"
        ),
    output:
        selected="results/selected/{model}/{corpus}/{pair}.parquet",
        counts=report(
            "results/selected/{model}/{corpus}/{pair}.counts.json",
            category="Corpora",
            labels={"model": "{model}", "corpus": "{corpus} {pair}", "shows": "counts"},
        ),
        dropped=report(
            "results/selected/{model}/{corpus}/{pair}.dropped.tsv",
            category="Corpora",
            labels={"model": "{model}", "corpus": "{corpus} {pair}", "shows": "dropped pairs"},
        ),
    log:
        "results/logs/select_pairs/{model}/{corpus}/{pair}.log",
    conda:
        "../envs/pipeline.yaml"
    resources:
        **resources_of("select_pairs"),
    params:
        **calls("corpus.select:select_pairs"),
        languages=sides_of,
        selection=pipeline.selection,
        allow_few=lambda wildcards: pipeline.definition(wildcards).allow_few,
        preparation=lambda wildcards: pipeline.preparation(pipeline.definition(wildcards).languages),
        seed=settings.seed,
        raw=lambda wildcards: pipeline.definition(wildcards).duplicates == "drop_all",
    message:
        "Filter corpus {wildcards.corpus}, {wildcards.pair}, for model {wildcards.model}"
    script:
        "../workflow/scripts/run.py"


# What a model is not trained on, so that it can be judged by it.
rule hold_out_pairs:
    input:
        selected=pipeline.of_corpora("results/selected/{model}/{corpus}/{pair}.parquet"),
    output:
        pairs="results/held_out/{model}.parquet",
        table="results/held_out/{model}.tsv",
        sentences="results/held_out/{model}.txt",
    log:
        "results/logs/hold_out_pairs/{model}.log",
    wildcard_constraints:
        model=one_of(pipeline.held_out_models),
    conda:
        "../envs/pipeline.yaml"
    resources:
        **resources_of("hold_out_pairs"),
    params:
        **calls("corpus.held_out:hold_out_pairs"),
        number=lambda wildcards: pipeline.definition(wildcards).held_out.pairs,
        share=lambda wildcards: pipeline.definition(wildcards).held_out.share,
        corpora=lambda wildcards: pipeline.corpus_pairs[wildcards.model],
        texts=pipeline.of("texts"),
        seed=settings.seed,
    message:
        "Choose the pairs that {wildcards.model} is not trained on"
    script:
        "../workflow/scripts/run.py"


rule merge_pairs:
    input:
        unpack(optional(held_out=pipeline.held_out)),
        selected=pipeline.of_corpora("results/selected/{model}/{corpus}/{pair}.parquet"),
        contaminated=pipeline.contaminated,
    output:
        pairs="results/corpora/{model}/pairs.parquet",
        counts=report(
            "results/corpora/{model}/counts.json",
            category="Corpora",
            labels={"model": "{model}", "corpus": "all", "shows": "counts"},
        ),
    log:
        "results/logs/merge_pairs/{model}.log",
    conda:
        "../envs/pipeline.yaml"
    resources:
        **resources_of("merge_pairs"),
    params:
        **calls("corpus.merge:merge_pairs"),
        merging=pipeline.merging,
        seed=settings.seed,
        # Snakemake does not run a step again if only the order of its inputs changes.
        version=lambda wildcards: pipeline.corpus_pairs[wildcards.model],
    message:
        "Merge the corpora of {wildcards.model}"
    script:
        "../workflow/scripts/run.py"
