"""From downloads to the pairs that a model is trained on: extract, score, select and merge."""


rule extract_corpus:
    input:
        downloads=lambda wildcards: corpora.downloads(wildcards.corpus, languages_of(wildcards.pair)),
    output:
        pairs="results/pairs/{corpus}/{pair}.parquet",
    log:
        "results/logs/extract_corpus/{corpus}/{pair}.log",
    benchmark:
        "results/benchmarks/extract_corpus/{corpus}/{pair}.tsv"
    wildcard_constraints:
        corpus=one_of(name for name in corpora.corpora if name not in settings.mined),
    conda:
        "../envs/pipeline.yaml"
    threads: 1
    resources:
        **resources_of("extract_corpus"),
    params:
        kind=lambda wildcards: datasets[wildcards.corpus].kind,
        files=lambda wildcards: corpora.described_files(wildcards.corpus, languages_of(wildcards.pair)),
        max_unreadable=settings.extraction.max_unreadable,
        seed=lambda wildcards: corpora.drawing_seed(wildcards.corpus),
        code=code_of("extract_corpus"),
    message:
        "Read the pairs of corpus {wildcards.corpus}, {wildcards.pair}"
    script:
        "../workflow/scripts/extract_corpus.py"


rule score_pairs:
    input:
        # A path instead of a rule's output, since another rule makes mined pairs.
        pairs="results/pairs/{corpus}/{pair}.parquet",
        language_id=corpora.language_id,
        punkt=corpora.punkt,
    output:
        scored="results/scored/{corpus}/{pair}/{scatteritem}.parquet",
    log:
        "results/logs/score_pairs/{corpus}/{pair}/{scatteritem}.log",
    benchmark:
        "results/benchmarks/score_pairs/{corpus}/{pair}/{scatteritem}.tsv"
    conda:
        "../envs/pipeline.yaml"
    threads: 1
    resources:
        **resources_of("score_pairs"),
    params:
        preparation=lambda wildcards: corpora.preparation(languages_of(wildcards.pair)),
        words=settings.text.words,
        identify=settings.text.identify,
        overlap_tokenizer=corpora.overlap_tokenizer,
        code=code_of("score_pairs"),
    message:
        "Measure the pairs of corpus {wildcards.corpus}, {wildcards.pair}, part {wildcards.scatteritem}"
    script:
        "../workflow/scripts/score_pairs.py"


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
    benchmark:
        "results/benchmarks/select_pairs/{model}/{corpus}/{pair}.tsv"
    conda:
        "../envs/pipeline.yaml"
    threads: 1
    resources:
        **resources_of("select_pairs"),
    params:
        languages=lambda wildcards: wildcards.pair.split("-"),
        selection=models.selection,
        preparation=models.preparation,
        seed=settings.seed,
        raw=lambda wildcards: models.definition(wildcards).duplicates == "drop_all",
        code=code_of("select_pairs"),
    message:
        "Filter corpus {wildcards.corpus}, {wildcards.pair}, for model {wildcards.model}"
    script:
        "../workflow/scripts/select_pairs.py"


# What a model is not trained on, so that it can be judged by it.
rule hold_out_pairs:
    input:
        selected=models.of_corpora("results/selected/{model}/{corpus}/{pair}.parquet"),
    output:
        pairs="results/held_out/{model}.parquet",
        table="results/held_out/{model}.tsv",
        sentences="results/held_out/{model}.txt",
    log:
        "results/logs/hold_out_pairs/{model}.log",
    benchmark:
        "results/benchmarks/hold_out_pairs/{model}.tsv"
    wildcard_constraints:
        model=one_of(models.held_out_models),
    conda:
        "../envs/pipeline.yaml"
    threads: 1
    resources:
        **resources_of("hold_out_pairs"),
    params:
        corpora=lambda wildcards: models.corpus_pairs[wildcards.model],
        held_out=lambda wildcards: as_json(models.definition(wildcards).held_out),
        texts=models.of("texts"),
        seed=settings.seed,
        code=code_of("hold_out_pairs"),
    message:
        "Choose the pairs that {wildcards.model} is not trained on"
    script:
        "../workflow/scripts/hold_out_pairs.py"


rule merge_pairs:
    input:
        selected=models.of_corpora("results/selected/{model}/{corpus}/{pair}.parquet"),
        contaminated=models.if_dropped(
            "results/contamination/{model}/{corpus}/{pair}.parquet", or_held_out=True
        ),
        held_out=models.held_out,
    output:
        pairs="results/corpora/{model}/pairs.parquet",
        counts=report(
            "results/corpora/{model}/counts.json",
            category="Corpora",
            labels={"model": "{model}", "corpus": "all", "shows": "counts"},
        ),
    log:
        "results/logs/merge_pairs/{model}.log",
    benchmark:
        "results/benchmarks/merge_pairs/{model}.tsv"
    conda:
        "../envs/pipeline.yaml"
    threads: 1
    resources:
        **resources_of("merge_pairs"),
    params:
        # A parameter, since Snakemake does not run a step again if only the order of its inputs changes.
        corpora=lambda wildcards: models.corpus_pairs[wildcards.model],
        drop=models.dropped_kinds,
        duplicates=lambda wildcards: models.definition(wildcards).duplicates,
        max_pairs=models.of("max_pairs"),
        weights=models.of("weights"),
        grouped=models.of("grouped"),
        texts=models.of("texts"),
        seed=settings.seed,
        code=code_of("merge_pairs"),
    message:
        "Merge the corpora of {wildcards.model}"
    script:
        "../workflow/scripts/merge_pairs.py"
