#!/usr/bin/env bash
# Try on a GPU what tests cannot try without one, in at most eight minutes: benchmarks/gpu.sh TEACHER [FOLDER]
#
# TEACHER is a folder with a Sentence Transformer, such as all-MiniLM-L6-v2. Figures are written into FOLDER.
set -euo pipefail
teacher=$(realpath "${1:?usage: benchmarks/gpu.sh TEACHER [FOLDER]}") out=${2:-results/gpu}
python=${PYTHON:-.venv/bin/python} mirror=${PARAPHRASTIC_MIRROR:-../shared/mirror}
mkdir -p "$out"
nvidia-smi --query-gpu=name,memory.total,driver_version --format=csv | tee "$out/gpu.csv"

"$python" -m pytest -n 0 -m gpu tests/unit | tee "$out/tests.txt"
"$python" benchmarks/training.py --device cuda --output "$out/training.json" | tee "$out/training.txt"

# A Transformer with either pooling, on captions in two languages, for some hundred steps in bfloat16; and an average
# that begins from what the teacher says of 300,000 sentences.
cat >"$out/transformer.yaml" <<YAML
models: [mean, lstm, average]
definitions:
  mean: &transformer
    languages: [en, de]
    corpora: [multi30k]
    max_pairs: {multi30k: 20000}
    encoder: {transformer: "$teacher", pooling: mean}
    sweep: {megabatch: [8]}
  lstm:
    <<: *transformer
    encoder: {transformer: "$teacher", pooling: lstm_last}
  average:
    languages: [en]
    corpora: [indian_parallel]
    training: {init: teacher, teacher: minilm, teacher_sentences: 300000, dimension: 300}
systems:
  minilm: {sentence_transformers: "$teacher", languages: [en]}
mirror: $mirror
language_id: null
selection: {bitext: {language: null}, paraphrase: {language: null}}
contamination: {testsets: {sts: null}}
training: {device: cuda, precision: bfloat16, epochs: 1, checkpoint_minutes: 0.05}
evaluation: {speed: {seconds: 0.5}}
YAML
run=("$python" -m snakemake --cores all --configfile)
nvidia-smi --query-gpu=memory.used --format=csv,noheader --loop-ms=500 >"$out/memory.txt" &
trap "kill $!" EXIT
# The first run is killed after a checkpoint, and the second one goes on.
setsid "${run[@]}" "$out/transformer.yaml" -- all >"$out/killed.txt" 2>&1 &
until compgen -G "results/training/*/*/checkpoint.safetensors" >/dev/null || ! kill -0 $! 2>/dev/null; do sleep 1; done
kill -KILL -- -$! || true
"$python" -m snakemake --unlock --configfile "$out/transformer.yaml" >/dev/null 2>&1 || true
"${run[@]}" "$out/transformer.yaml" --rerun-incomplete -- all results/tables/sts.csv results/tables/speed.csv \
  2>&1 | tee "$out/transformer.txt" | tail -n 20
cp results/tables/sts.csv "$out/transformer-sts.csv"
cp results/tables/speed.csv "$out/transformer-speed.csv"
grep -rh "continuing after" results/logs | tee "$out/resumed.txt"
sort -n "$out/memory.txt" | tail -n 1 >>"$out/gpu.csv"

"${run[@]}" config/config.yaml --config 'training={device: cuda}' -- results/tables/sts.csv 2>&1 |
  tee "$out/sample.txt" | tail -n 20
cp results/tables/sts.csv "$out/sample-sts.csv"
