"""The entry for OpenDP's registry: every field is filled, and the document says from what."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]

from commands import ROOT, graphveil
from graphveil.errors import ParameterError
from graphveil.report.card import FIELDS, FiledBy, as_yaml, entry
from graphveil.study.public_part import PublicPart
from public_parts import promise, published
from steward import opened, run

DOCUMENT = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
PART = PublicPart.of(published(promise(), 3).rows)
FILED = FiledBy("Example County", "Public health", ("A. Steward",))
# The sections and fields that entries had in 2026; those with the same end are written as here.
SECTIONS = {
    "basic", "dp_variant", "privacy_loss", "deployment_model", "implementation", "administrative",
}  # fmt: skip


def test_every_field_is_filled_and_yaml_gives_it_back() -> None:
    made = entry(PART, FILED)
    assert yaml.safe_load(as_yaml(made)) == made
    assert set(made["deployment"]) == SECTIONS
    for path in FIELDS:
        section, _, name = path.partition(".")
        assert made["deployment"][section][name], path
    assert made["deployment"]["basic"]["data_product_region"] == "Example County"
    assert made["deployment"]["privacy_loss"]["privacy_parameters"]["epsilon"] > 0


def test_the_document_says_where_each_field_comes_from() -> None:
    for path, (source, _) in FIELDS.items():
        row = next(line for line in DOCUMENT.splitlines() if f"`{path}`" in line)
        assert source in row


@pytest.mark.parametrize(
    "wrong", [("", "Health", ("A",)), ("Here", " ", ("A",)), ("Here", "Health", ())]
)
def test_what_a_study_cannot_know_must_be_stated(wrong: tuple[str, str, tuple[str, ...]]) -> None:
    with pytest.raises(ParameterError, match=r"region|sector|author"):
        FiledBy(*wrong)


def test_the_command_writes_it(tmp_path: Path) -> None:
    study = opened(tmp_path / "study")
    run("publish", study, "--early")
    file = tmp_path / "entry.yaml"
    said = ("--region", "Here", "--sector", "Health", "--author", "A", "--author", "B")
    assert str(file) in run("report", study, "--registry", file, *said).out
    made = yaml.safe_load(file.read_text(encoding="utf-8"))
    assert made["deployment"]["administrative"]["registry_authors"] == ["A", "B"]
    refused = graphveil("report", str(study), "--registry", str(file))
    assert refused.code == 2
    assert "region: must be stated" in refused.err
