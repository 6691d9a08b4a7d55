"""Test that every rule names its function's arguments, and what it takes from the machine."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from pipelines import ROOT, environment

# It has a job for every rule; a dry run needs none of its files.
CONFIGURATION = """
models: [paraphrases, transformer, pupil]
definitions:
  fr: {languages: [en, fr], corpora: [sample_aligned]}
  paraphrases:
    languages: [en]
    corpora: [subtitles_mined]
  pupil: {languages: [en, fr], corpora: [sample_aligned], training: {soup: 2, init: teacher, teacher: fr}}
  transformer:
    languages: [en]
    corpora: [subtitles_translated]
    encoder: {transformer: some/transformer}
mined:
  subtitles_mined: {languages: [fr, en], corpora: [sample_aligned], encoder: fr, min_similarity: 0.7}
  subtitles_translated: {languages: [fr, en], corpora: [sample_aligned], translator: {model: some/translator}}
language_id: sample_languages
selection: {bitext: {language: null}, paraphrase: {language: null}}
contamination: {testsets: {sts: sample_sts}}
evaluation:
  sts: sample_sts
  retrieval: [pupil]
  tatoeba: {testsets: sample_tatoeba}
  bucc: {testsets: bucc2018}
  senteval: senteval
language_choice: {models: [fr]}
studies: {dropout: {model: fr, vary: {sweep.dropout: [0.0, 0.1]}}}
"""


def test_every_rule_names_the_arguments_of_its_function(pipeline: Path) -> None:
    (pipeline / "every.yaml").write_text(CONFIGURATION)
    targets = ["all", "paper_tables", "results/report.html"]
    run = subprocess.run(
        [sys.executable, Path(__file__).with_name("plan_jobs.py"), "every.yaml", *targets],
        cwd=pipeline,
        env=environment(),
        text=True,
        capture_output=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout) == []


BLOCKS = {
    block.split(":")[0].removeprefix("rule "): block
    for path in sorted((ROOT / "rules").glob("*.smk"))
    for block in re.split(r"^(?=(?:use )?rule )", path.read_text(), flags=re.M)
    if block.startswith("rule ")
}


@pytest.mark.parametrize("name", BLOCKS)
def test_every_rule_has_a_log_and_resources_and_runs_a_function(name: str) -> None:
    assert re.search(r'^        "results/logs/', BLOCKS[name], re.M)
    assert re.search(r'^        \*\*resources_of\("([a-z_{}]+)"\),$', BLOCKS[name], re.M)
    assert '"../workflow/scripts/run.py"' in BLOCKS[name]
    # A download is not made again because of code.
    assert "**calls(" in BLOCKS[name] or name == "download_file"


def test_rules_are_rules() -> None:
    texts = {path.stem: path.read_text() for path in (ROOT / "rules").glob("*.smk")}
    assert sum(text.count("\n") for text in texts.values()) < 1700
    for name, text in texts.items():
        assert re.findall(r"^ *(?:def|class) (\w+)", text, re.M) == (
            ["calls", "code", "all_cores", "training_threads"] if name == "common" else []
        )
        assert not re.search(r"^    run:|^ +rule ", text, re.M), name
