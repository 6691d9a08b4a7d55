"""Training pairs that are in test sets or held out: gather the test sentences, and mark the pairs."""


rule gather_testsets:
    input:
        testsets=evaluations.contamination_testsets,
    output:
        sentences="results/contamination/{model}/testsets.parquet",
    log:
        "results/logs/gather_testsets/{model}.log",
    benchmark:
        "results/benchmarks/gather_testsets/{model}.tsv"
    conda:
        "../envs/pipeline.yaml"
    threads: 1
    resources:
        **resources_of("gather_testsets"),
    params:
        files=evaluations.contamination_texts,
        # Test sentences are segmented like the model's training data, which is lower-cased before.
        segmentation=lambda wildcards: corpora.modes("segmentation", models.definition(wildcards).languages),
        lowercase=settings.text.lowercase,
        code=code_of("gather_testsets"),
    message:
        "Gather the sentences of the test sets for {wildcards.model}"
    script:
        "../workflow/scripts/gather_testsets.py"


rule mark_contamination:
    input:
        selected=rules.select_pairs.output.selected,
        sentences=rules.gather_testsets.output.sentences,
        held_out=models.held_out,
    output:
        contaminated="results/contamination/{model}/{corpus}/{pair}.parquet",
        counts="results/contamination/{model}/{corpus}/{pair}.counts.json",
        examples=report(
            "results/contamination/{model}/{corpus}/{pair}.examples.tsv",
            category="Corpora",
            labels={"model": "{model}", "corpus": "{corpus} {pair}", "shows": "contaminated pairs"},
        ),
    log:
        "results/logs/mark_contamination/{model}/{corpus}/{pair}.log",
    benchmark:
        "results/benchmarks/mark_contamination/{model}/{corpus}/{pair}.tsv"
    conda:
        "../envs/pipeline.yaml"
    threads: 1
    resources:
        **resources_of("mark_contamination"),
    params:
        seed=settings.seed,
        code=code_of("mark_contamination"),
    message:
        "Look for test sentences in corpus {wildcards.corpus}, {wildcards.pair}, of model {wildcards.model}"
    script:
        "../workflow/scripts/mark_contamination.py"
