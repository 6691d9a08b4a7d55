"""From downloads to the pairs that a model is trained on: extract, score, select, merge."""


rule extract_corpus:
    input:
        downloads=lambda wildcards: downloads(wildcards.corpus, languages_of(wildcards.pair)),
    output:
        pairs="results/pairs/{corpus}/{pair}.parquet",
        unreadable="results/pairs/{corpus}/{pair}.unreadable.tsv",
    log:
        "results/logs/extract_corpus/{corpus}/{pair}.log",
    benchmark:
        "results/benchmarks/extract_corpus/{corpus}/{pair}.tsv"
    wildcard_constraints:
        corpus=one_of(name for name in CORPORA if name not in config["mined"]),
    conda:
        "../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=memory("extract_corpus"),
        runtime=runtime("extract_corpus"),
    params:
        kind=lambda wildcards: REGISTRY[wildcards.corpus].kind,
        files=lambda wildcards: corpus_files(wildcards.corpus, languages_of(wildcards.pair)),
        max_unreadable=config["extraction"]["max_unreadable"],
        code=code_of("extract_corpus"),
    message:
        "Extract {wildcards.corpus} {wildcards.pair}"
    script:
        "../workflow/scripts/extract_corpus.py"


rule train_language_id:
    input:
        downloads=lambda wildcards: downloads(wildcards.dataset),
    output:
        model="resources/language_id/{dataset}.bin",
    log:
        "results/logs/train_language_id/{dataset}.log",
    benchmark:
        "results/benchmarks/train_language_id/{dataset}.tsv"
    conda:
        "../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=memory("train_language_id"),
        runtime=runtime("train_language_id"),
    params:
        seed=config["seed"],
        code=code_of("train_language_id"),
    message:
        "Train language identification on {wildcards.dataset}"
    script:
        "../workflow/scripts/train_language_id.py"


rule score_pairs:
    input:
        # By its path: mined pairs are made by another rule.
        pairs="results/pairs/{corpus}/{pair}.parquet",
        language_id=lambda wildcards: language_id_model(),
        word_vectors=lambda wildcards: (
            downloads(config["word_vectors"])
            if config["word_vectors"] and len(languages_of(wildcards.pair)) == 1
            else []
        ),
    output:
        scored="results/scored/{corpus}/{pair}/{scatteritem}.parquet",
    log:
        "results/logs/score_pairs/{corpus}/{pair}/{scatteritem}.log",
    benchmark:
        "results/benchmarks/score_pairs/{corpus}/{pair}/{scatteritem}.tsv"
    conda:
        "../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=memory(scoring_need),
        runtime=runtime(scoring_need),
    params:
        segmentation=lambda wildcards: text_modes(languages_of(wildcards.pair), "segmentation"),
        folding=lambda wildcards: text_modes(languages_of(wildcards.pair), "folding"),
        overlap_tokenizer=lambda wildcards: (
            config["text"]["overlap_tokenizer"] if len(languages_of(wildcards.pair)) == 1 else "word"
        ),
        code=code_of("score_pairs"),
    message:
        "Score the pairs of {wildcards.corpus} {wildcards.pair}, shard {wildcards.scatteritem}"
    script:
        "../workflow/scripts/score_pairs.py"


rule select_pairs:
    input:
        scored=lambda wildcards: gather.shard(
            f"results/scored/{wildcards.corpus}/{pair_name(wildcards.model)}/{{scatteritem}}.parquet"
        ),
    output:
        selected="results/selected/{model}/{corpus}.parquet",
        counts=report(
            "results/selected/{model}/{corpus}.counts.json",
            caption="../workflow/report/counts.rst",
            category="Corpora",
            labels={"model": "{model}", "corpus": "{corpus}", "shows": "counts"},
        ),
        dropped=report(
            "results/selected/{model}/{corpus}.dropped.tsv",
            caption="../workflow/report/dropped.rst",
            category="Corpora",
            labels={"model": "{model}", "corpus": "{corpus}", "shows": "dropped pairs"},
        ),
    log:
        "results/logs/select_pairs/{model}/{corpus}.log",
    benchmark:
        "results/benchmarks/select_pairs/{model}/{corpus}.tsv"
    conda:
        "../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=memory("select_pairs"),
        runtime=runtime("select_pairs"),
    params:
        languages=lambda wildcards: pair_of(config["definitions"][wildcards.model]),
        settings=lambda wildcards: config["definitions"][wildcards.model]["selection"][
            selection_kind(config["definitions"][wildcards.model])
        ],
        folding=lambda wildcards: text_modes(config["definitions"][wildcards.model]["languages"], "folding"),
        lowercase=config["text"]["lowercase"],
        seed=config["seed"],
        keep=[],
        code=code_of("select_pairs"),
    message:
        "Select pairs of {wildcards.corpus} for {wildcards.model}"
    script:
        "../workflow/scripts/select_pairs.py"


rule merge_pairs:
    input:
        selected=lambda wildcards: expand(
            "results/selected/{model}/{corpus}.parquet",
            model=wildcards.model,
            corpus=config["definitions"][wildcards.model]["corpora"],
        ),
        contaminated=lambda wildcards: (
            expand(
                "results/contamination/{model}/{corpus}.parquet",
                model=wildcards.model,
                corpus=config["definitions"][wildcards.model]["corpora"],
            )
            if dropped_kinds(config)
            else []
        ),
    output:
        pairs="results/corpora/{model}/pairs.parquet",
        counts=report(
            "results/corpora/{model}/counts.json",
            caption="../workflow/report/counts.rst",
            category="Corpora",
            labels={"model": "{model}", "corpus": "all", "shows": "counts"},
        ),
    log:
        "results/logs/merge_pairs/{model}.log",
    benchmark:
        "results/benchmarks/merge_pairs/{model}.tsv"
    wildcard_constraints:
        model=one_of(CORPUS_MODELS),
    conda:
        "../envs/corpus.yaml"
    threads: 1
    resources:
        mem_mb=memory(merging_need),
        runtime=runtime(merging_need),
    params:
        # The order of inputs is no reason for Snakemake to run a step again.
        corpora=lookup(dpath="definitions/{model}/corpora", within=config),
        drop=dropped_kinds(config),
        duplicates=lookup(dpath="definitions/{model}/duplicates", within=config),
        near_duplicates=lookup(dpath="definitions/{model}/near_duplicates", within=config),
        max_pairs=lambda wildcards: [
            config["definitions"][wildcards.model]["max_pairs"].get(corpus)
            for corpus in config["definitions"][wildcards.model]["corpora"]
        ],
        seed=config["seed"],
        code=code_of("merge_pairs"),
    message:
        "Merge the corpora of {wildcards.model}"
    script:
        "../workflow/scripts/merge_pairs.py"
