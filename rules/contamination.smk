"""Training pairs that are in test sets or held out: gather the test sentences, and mark the pairs."""


rule gather_testsets:
    input:
        testsets=lambda wildcards: list(pipeline.contamination_files(wildcards)),
    output:
        sentences="results/contamination/{model}/testsets.parquet",
    log:
        "results/logs/gather_testsets/{model}.log",
    conda:
        "../envs/pipeline.yaml"
    resources:
        **resources_of("gather_testsets"),
    params:
        **calls("corpus.testset_sentences:gather_testsets"),
        files=lambda wildcards: list(pipeline.contamination_files(wildcards).values()),
        # Test sentences are segmented like the model's training data, which is lower-cased before.
        segmentation=lambda wildcards: pipeline.preparation(pipeline.definition(wildcards).languages)[
            "segmentation"
        ],
        lowercase=settings.text.lowercase,
    message:
        "Gather the sentences of the test sets for {wildcards.model}"
    script:
        "../workflow/scripts/run.py"


rule mark_contamination:
    input:
        unpack(optional(held_out=pipeline.held_out)),
        selected=rules.select_pairs.output.selected,
        sentences=rules.gather_testsets.output.sentences,
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
    conda:
        "../envs/pipeline.yaml"
    resources:
        **resources_of("mark_contamination"),
    params:
        **calls("corpus.contamination:mark_contamination"),
        seed=settings.seed,
    message:
        "Look for test sentences in corpus {wildcards.corpus}, {wildcards.pair}, of model {wildcards.model}"
    script:
        "../workflow/scripts/run.py"
