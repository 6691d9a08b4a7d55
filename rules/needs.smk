"""What jobs ask for: the figures of `paraphrastic.resources` for the sizes of their inputs and models."""

from paraphrastic.resources import (
    NEEDS,
    WEIGHTS,
    WORD_VECTORS,
    bucc_need,
    memory_mb,
    minutes,
    training_need,
    vocabulary_need,
    weights_mb,
)


def memory(step):
    """What is asked for as mem_mb, by a step's name in `NEEDS` or a function of wildcards and input."""
    return lambda wildcards, input, attempt: memory_mb(need(step, wildcards, input), attempt=attempt)


def runtime(step):
    """What is asked for as runtime, in minutes, as by `memory`."""
    return lambda wildcards, input, attempt, threads: minutes(
        need(step, wildcards, input), attempt=attempt, threads=threads
    )


def need(step, wildcards, input):
    """A step's need; the input's size is only asked for where it matters, since in a group it is not known."""
    found = step(wildcards, input) if callable(step) else NEEDS[step]
    return found.of(input.size_mb) if found.sized else found


def scoring_need(wildcards, input):
    """Of a shard, which reads its part of the pairs."""
    treebank = config["text"]["overlap_tokenizer"] == "treebank" and len(languages_of(wildcards.pair)) == 1
    scoring = NEEDS["score_pairs_treebank" if treebank else "score_pairs"]
    vectors_mb = sum(Path(path).stat().st_size for path in input.word_vectors) / 1e6
    return scoring.of(Path(input.pairs).stat().st_size / 1e6 / config["shards"]) + WORD_VECTORS.of(vectors_mb)


def merging_need(wildcards, input):
    """Near duplicates are looked for where that is asked for."""
    near = config["definitions"][wildcards.model]["near_duplicates"]
    return NEEDS["merge_near_duplicates" if near else "merge_pairs"]


def vocabulary_needed(wildcards, input):
    return vocabulary_need(config["definitions"][wildcards.model], input.size_mb)


def training_needed(wildcards, input):
    """Of a run of a sweep, or of a part of the filter study."""
    model = wildcards.model
    runs = sweep_runs(config, model)
    settings = runs[wildcards.run] if "run" in wildcards.keys() else study_settings(config, model)
    return training_need(config["definitions"][model], settings, input.size_mb)


def similarity_need(wildcards, input):
    """Of a shard, by the size of the encoder and of its part of the pairs."""
    pairs_mb = Path(input.pairs).stat().st_size / 1e6 / config["shards"]
    encoder_mb = sum(Path(path).stat().st_size for path in input.encoder) / 1e6
    return NEEDS["measure_similarity"].of(pairs_mb) + WEIGHTS.of(encoder_mb)


def model_need(step):
    """The need of a step that loads a model, trained here or somebody else's."""
    return lambda wildcards, input: NEEDS[step] + WEIGHTS.of(
        encoder_mb(wildcards.get("system") or wildcards.model)
    )


def encoder_mb(system):
    """MB of a system's weights; as in the configuration, since a model need not be there yet."""
    if system in config["systems"]:
        return sum(Path(path).stat().st_size for path in system_files(system)) / 1e6
    return weights_mb(config["definitions"][UNTRAINED.get(system, system)])


def bucc_needed(wildcards, input):
    of_model = config["definitions"].get(UNTRAINED.get(wildcards.system, wildcards.system))
    # The paper's dimension, where that of somebody else's encoder is not known.
    dimension = of_model["training"]["dimension"] if of_model else 1024
    sentences_mb = sum(Path(path).stat().st_size for path in input.sentences) / 1e6
    return bucc_need(dimension, sentences_mb) + WEIGHTS.of(encoder_mb(wildcards.system))


def speed_need(wildcards, input):
    """All systems, one after the other; the largest decides on the memory."""
    sizes = [encoder_mb(system) for system in systems_of("speed")]
    return NEEDS["measure_speed"] + WEIGHTS.of(max(sizes))
