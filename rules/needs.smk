"""What jobs ask for: the figures of `paraphrastic.pipeline.resources` for the sizes of their inputs and models."""

from paraphrastic.pipeline.resources import (
    NEEDS,
    WEIGHTS,
    WORD_VECTORS,
    bucc_need,
    memory_mb,
    minutes,
    speed_measuring_need,
    training_need,
    vocabulary_need,
    weights_mb,
)


def memory(step):
    """What is asked for as mem_mb, by a step's name in `NEEDS` or a function of wildcards, input and `megabytes`."""

    def asked(wildcards, input, attempt):
        return memory_mb(need(step, wildcards, input), attempt=attempt)

    # For a plan, which knows the sizes of files that are not there yet.
    asked.step = step
    return asked


def runtime(step, *, shared=True):
    """What is asked for as runtime, in minutes, as by `memory`; `shared` by the threads, if they share the work."""
    return lambda wildcards, input, attempt, threads: minutes(
        need(step, wildcards, input), attempt=attempt, threads=threads if shared else 1
    )


def on_disk(paths):
    """MB of files, one or many."""
    return sum(Path(path).stat().st_size for path in ([paths] if isinstance(paths, str) else paths)) / 1e6


def need(step, wildcards, input, megabytes=on_disk):
    """A step's need; the input's size is only asked for where it matters, since in a group it is not known."""
    found = step(wildcards, input, megabytes) if callable(step) else NEEDS[step]
    return found.of(megabytes(input)) if found.sized else found


def scoring_need(wildcards, input, megabytes):
    """Of a shard, which reads its part of the pairs."""
    treebank = config["text"]["overlap_tokenizer"] == "treebank" and len(languages_of(wildcards.pair)) == 1
    scoring = NEEDS["score_pairs_treebank" if treebank else "score_pairs"]
    words = WORD_VECTORS.of(megabytes(input.word_vectors))
    return scoring.of(megabytes(input.pairs) / config["shards"]) + words


def merging_need(wildcards, input, megabytes):
    """Near duplicates are looked for where that is asked for."""
    near = config["definitions"][wildcards.model]["near_duplicates"]
    return NEEDS["merge_near_duplicates" if near else "merge_pairs"]


def vocabulary_needed(wildcards, input, megabytes):
    return vocabulary_need(config["definitions"][wildcards.model], megabytes(input))


def training_needed(wildcards, input, megabytes):
    """Of a run of a sweep, or of a part of the filter study."""
    model = wildcards.model
    runs = sweep_runs(config, model)
    settings = runs[wildcards.run] if "run" in wildcards.keys() else study_settings(config, model)
    return training_need(config["definitions"][model], settings, megabytes(input))


def similarity_need(wildcards, input, megabytes):
    """Of a shard, by the size of the encoder and of its part of the pairs."""
    pairs_mb = megabytes(input.pairs) / config["shards"]
    return NEEDS["measure_similarity"].of(pairs_mb) + WEIGHTS.of(megabytes(input.encoder))


def model_need(step):
    """The need of a step that loads a model, trained here or somebody else's."""
    return lambda wildcards, input, megabytes: NEEDS[step] + WEIGHTS.of(
        encoder_mb(wildcards.get("system") or wildcards.model)
    )


def task_need(wildcards, input, megabytes):
    """Of an evaluation, by its task or its suite of tasks; parts of the filter study are evaluated on STS."""
    step = {
        "sts": "evaluate_sts",
        "xling_sts": "evaluate_xling_sts",
        "stsb": "evaluate_stsb",
        "senteval": "evaluate_senteval",
        "polish": "evaluate_polish",
    }[wildcards.get("task") or wildcards.get("suite") or "sts"]
    return model_need(step)(wildcards, input, megabytes)


def encoder_mb(system):
    """MB of a system's weights; as in the configuration, since a model need not be there yet."""
    if system in config["systems"]:
        return sum(Path(path).stat().st_size for path in system_files(system)) / 1e6
    return weights_mb(config["definitions"][UNTRAINED.get(system, system)])


def bucc_needed(wildcards, input, megabytes):
    of_model = config["definitions"].get(UNTRAINED.get(wildcards.system, wildcards.system))
    # The paper's dimension, where that of somebody else's encoder is not known.
    dimension = of_model["training"]["dimension"] if of_model else 1024
    return bucc_need(dimension, megabytes(input.sentences)) + WEIGHTS.of(encoder_mb(wildcards.system))


def speed_need(wildcards, input, megabytes):
    """All systems, one after the other; the largest decides on the memory."""
    systems = systems_of("speed")
    sizes = [encoder_mb(system) for system in systems]
    return speed_measuring_need(config["evaluation"]["speed"], len(systems)) + WEIGHTS.of(max(sizes))
