"""Test the counts of pairs, their tables, the picture of the funnel, and the warning of a large loss."""

import json
from xml.etree import ElementTree

import pytest

from paraphrastic_pipeline.corpus.contamination import tabulate_contamination
from paraphrastic_pipeline.corpus.counts import loss, tabulate_funnel
from paraphrastic_pipeline.report.figures.funnel import plot_funnel
from paraphrastic_pipeline.report.summary import read_pairs

MERGED = {"duplicates": 4, "contaminated": 3, "held_out": 0, "capped": 2, "kept": 51}


@pytest.mark.parametrize(
    ("read", "dropped", "words"),
    [
        (1000, {"length": 200, "language": 100}, None),
        (0, {"empty": 0}, None),
        (1000, {"length": 200, "language": 101}, ("30%", "301 of 1,000", "200 of them", "length")),
        (6000, {"empty": 1, "length": 200, "language": 2000}, ("37%", "2,201 of 6,000", "language")),
    ],
)
def test_a_large_loss_is_a_sentence(read, dropped, words):
    sentence = loss("corpus", read, dropped)
    assert (sentence is None) == (words is None)
    assert all(word in str(sentence) for word in words or ())


def tabulated(folder, merged, **selected):
    """The lines of the funnel of these counts, of selections and of the merge by model."""
    for name, counts in selected.items():
        (folder / f"{name}.json").write_text(json.dumps(counts))
    for model, corpora in merged.items():
        (folder / f"merged-{model}.json").write_text(json.dumps({"corpora": corpora}))
    tabulate_funnel(
        [folder / f"{name}.json" for name in selected],
        [folder / f"merged-{model}.json" for model in merged],
        folder / "funnel.csv",
        corpora=[(name.split("_")[0], name) for name in selected],
        models=list(merged),
    )
    return (folder / "funnel.csv").read_text().splitlines()


def test_the_table_of_the_funnel(tmp_path):
    de = {"read": 100, "kept": 60, "dropped": {"empty": 0, "length": 30, "language": 10}}
    fr = {"read": 50, "kept": 51, "dropped": {"empty": 1, "rank": 2}}
    assert tabulated(tmp_path, {"fr": [MERGED], "de": [MERGED]}, fr_b=fr, de_a=de) == [
        "model,corpus,read,empty,rank,length,language,duplicates,contaminated,held_out,capped,kept",
        "fr,fr_b,50,1,2,,,4,3,0,2,51",
        "de,de_a,100,0,,30,10,4,3,0,2,51",
    ]
    header = "model,corpus,read,duplicates,contaminated,held_out,capped,kept"
    assert tabulated(tmp_path, {}) == [header]
    lines = tabulated(tmp_path, {"de": [MERGED]}, de_a=de)
    assert lines[0] == header.replace("read,", "read,empty,length,language,")


def test_the_picture_of_the_funnel(tmp_path):
    counts = {"read": 100, "kept": 60, "dropped": {"empty": 0, "length": 30, "odd_line": 10}}
    tabulated(tmp_path, {"de": [MERGED]}, de_tanzil=counts)
    outputs = [tmp_path / "funnel.svg", tmp_path / "funnel.png"]
    plot_funnel(tmp_path / "funnel.csv", outputs)
    texts = {"".join(element.itertext()).strip() for element in ElementTree.parse(outputs[0]).iter()}
    assert {"de_tanzil   de", "51 of 100", "51.0", "30.0", "10.0", "4.0", "odd line", "duplicates"} <= texts
    # A bar can be too narrow for its number, and a reason that drops nothing has none.
    assert not {"3.0", "0.0", "empty", "held out"} & texts
    assert outputs[1].read_bytes().startswith(b"\x89PNG")


def test_sentences_without_pairs_are_no_pairs(tmp_path):
    rows = "model,corpus,read,length,kept\na,one,10,4,6\nb,one,10,4,6\na,notes (text),900,0,900\nb,two,5,,5\n"
    (tmp_path / "funnel.csv").write_text(rows)
    assert read_pairs(tmp_path) == ("11", "15")


def test_the_table_of_contamination(tmp_path):
    both = {"read": 200, "all": {"exact": 3, "near": 4}, "testsets": {"sts": {"exact": 1, "near": 4}}}
    files = [tmp_path / "both", tmp_path / "exact", tmp_path / "none"]
    counts = [both, {"read": 8, "all": {"exact": 1, "near": 0}, "testsets": {}}]
    counts.append({"read": 0, "all": {"exact": 0, "near": 0}, "testsets": {}})
    for file, content in zip(files, counts, strict=True):
        file.write_text(json.dumps(content))
    corpora = [("fr", "tanzil"), ("tr", "tanzil"), ("tr", "none")]
    for drop, dropped in ((["exact"], (1, 3)), (["exact", "near"], (5, 7))):
        tabulate_contamination(files, tmp_path / "table.csv", corpora=corpora, drop=drop)
        assert (tmp_path / "table.csv").read_text().splitlines() == [
            "model,corpus,testset,read,exact,near,dropped,share",
            f"fr,tanzil,sts,200,1,4,{dropped[0]},2.50",
            f"fr,tanzil,all,200,3,4,{dropped[1]},3.50",
            "tr,tanzil,all,8,1,0,1,12.50",
            "tr,none,all,0,0,0,0,",
        ]
