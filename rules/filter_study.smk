"""What a model learns from each part of its corpora, ranked by a measure: ParaNMT-50M, section 6.3.

Every part is a small data set of its own, which the steps of a model encode, train on and evaluate.
"""


# Lists all pairs without an empty side, and their measures, since the paper ranks the whole corpus.
use rule select_pairs as list_candidates with:
    output:
        selected="results/filter_study/{model}/candidates/{corpus}/{pair}.parquet",
        counts="results/filter_study/{model}/candidates/{corpus}/{pair}.counts.json",
        dropped="results/filter_study/{model}/candidates/{corpus}/{pair}.dropped.tsv",
    log:
        "results/logs/list_candidates/{model}/{corpus}/{pair}.log",
    benchmark:
        "results/benchmarks/list_candidates/{model}/{corpus}/{pair}.tsv"
    params:
        settings={},
        keep=list(MEASURES),
    message:
        "List the pairs of {wildcards.corpus} to rank for {wildcards.model}"


use rule mark_contamination as mark_candidates with:
    input:
        selected=rules.list_candidates.output.selected,
        sentences=rules.gather_testsets.output.sentences,
    output:
        contaminated="results/filter_study/{model}/contamination/{corpus}/{pair}.parquet",
        counts="results/filter_study/{model}/contamination/{corpus}/{pair}.counts.json",
        examples="results/filter_study/{model}/contamination/{corpus}/{pair}.examples.tsv",
    log:
        "results/logs/mark_candidates/{model}/{corpus}/{pair}.log",
    benchmark:
        "results/benchmarks/mark_candidates/{model}/{corpus}/{pair}.tsv"
    message:
        "Look for test sentences in the pairs of {wildcards.corpus} to rank for {wildcards.model}"


rule rank_pairs:
    input:
        candidates=models.of_corpora("results/filter_study/{model}/candidates/{corpus}/{pair}.parquet"),
        contaminated=models.if_dropped("results/filter_study/{model}/contamination/{corpus}/{pair}.parquet"),
    output:
        parts=expand(
            "results/filter_study/{{model}}/{{measure}}/{part}/pairs.parquet",
            part=range(1, settings.filter_study.parts + 1),
        ),
        summary="results/filter_study/{model}/{measure}/parts.json",
    log:
        "results/logs/rank_pairs/{model}/{measure}.log",
    benchmark:
        "results/benchmarks/rank_pairs/{model}/{measure}.tsv"
    conda:
        "../envs/corpus.yaml"
    threads: 1
    resources:
        **needs("rank_pairs"),
    params:
        # Parameters, since Snakemake does not run a step again for another order of inputs or fewer outputs.
        corpora=lookup(dpath="definitions/{model}/corpora", within=config),
        parts=settings.filter_study.parts,
        drop=models.dropped_kinds,
        sample=settings.filter_study.sample,
        seed=settings.seed,
        code=code_of("rank_pairs"),
    message:
        "Rank the pairs of {wildcards.model} by {wildcards.measure} and sample each part"
    script:
        "../workflow/scripts/rank_pairs.py"


# All parts use the model's vocabulary, so they differ only in their pairs.
use rule encode_dataset as encode_part with:
    input:
        pairs="results/filter_study/{model}/{measure}/{part}/pairs.parquet",
        sentencepiece=models.of("vocabulary_files"),
    output:
        dataset="results/filter_study/{model}/{measure}/{part}/train.h5",
    log:
        "results/logs/encode_part/{model}/{measure}/{part}.log",
    benchmark:
        "results/benchmarks/encode_part/{model}/{measure}/{part}.tsv"
    message:
        "Encode part {wildcards.part} of {wildcards.model} by {wildcards.measure}"


use rule train_model as train_part with:
    input:
        dataset=rules.encode_part.output.dataset,
        sentencepiece=models.of("vocabulary_files"),
        vectors=models.of("initial_vectors"),
        testsets=models.development("sts2017"),
    output:
        weights="results/filter_study/{model}/{measure}/{part}/model.safetensors",
        sentencepiece="results/filter_study/{model}/{measure}/{part}/sentencepiece.model",
        config="results/filter_study/{model}/{measure}/{part}/config.json",
        history="results/filter_study/{model}/{measure}/{part}/training.jsonl",
    log:
        "results/logs/train_part/{model}/{measure}/{part}.log",
    benchmark:
        "results/benchmarks/train_part/{model}/{measure}/{part}.tsv"
    message:
        "Train on part {wildcards.part} of {wildcards.model} by {wildcards.measure}"


use rule evaluate_run as score_part with:
    input:
        model=rules.train_part.output,
        testsets=models.sts2017,
    output:
        score="results/filter_study/{model}/{measure}/{part}/development.json",
    log:
        "results/logs/score_part/{model}/{measure}/{part}.log",
    benchmark:
        "results/benchmarks/score_part/{model}/{measure}/{part}.tsv"
    params:
        choose_by="sts2017",
    message:
        "Score part {wildcards.part} of {wildcards.model} by {wildcards.measure}, on STS 2017 en-en"


use rule evaluate_system as evaluate_part with:
    input:
        rules.train_part.output,
        testsets="results/testsets/sts.parquet",
        official="config/published/sts_digests.json",
    output:
        result="results/filter_study/{model}/{measure}/{part}/sts.json",
        samples="results/filter_study/{model}/{measure}/{part}/sts.npz",
    log:
        "results/logs/evaluate_part/{model}/{measure}/{part}.log",
    benchmark:
        "results/benchmarks/evaluate_part/{model}/{measure}/{part}.tsv"
    resources:
        **needs("evaluate_sts"),
    params:
        system=lambda wildcards, input: str(Path(input[0]).parent),
        function=TASKS["sts"].function,
        settings={},
        code=code_of("evaluate_system", TASKS["sts"].function),
    message:
        "Evaluate part {wildcards.part} of {wildcards.model} by {wildcards.measure} on STS"
