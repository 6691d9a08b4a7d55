"""Test the README's picture of quality, speed and size."""

from pathlib import Path
from xml.etree import ElementTree

from front_figure import PICTURES, plot_front

from paraphrastic_pipeline.base.tables import read_csv


def test_the_picture_names_every_system(tmp_path: Path) -> None:
    plot_front(PICTURES / "front.csv", [tmp_path / "front.svg"])
    text = " ".join(" ".join(ElementTree.parse(tmp_path / "front.svg").getroot().itertext()).split())
    rows = read_csv(PICTURES / "front.csv")
    # This score is far below all marks, and left out.
    assert all((row["system"] in text) == (row["system"] != "BERT (CLS)") for row in rows)
    for number in ("P-SP 74.6", "USE 67.8", "Spearman's ρ × 100 75.9", "73.2 as the mean", "megabytes"):
        assert number in text
