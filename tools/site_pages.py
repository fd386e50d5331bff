"""Puts pages that stand outside docs/ on the site: of the root, the benchmarks and examples.

A hook of ProperDocs. On the site, the root of the repository and docs/ are one folder.
"""

from __future__ import annotations

import re
from pathlib import Path

from properdocs.config.defaults import ProperDocsConfig
from properdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
PAGES = (
    "CHANGELOG.md",
    "CODE_OF_CONDUCT.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    *(f"benchmarks/{page.name}" for page in sorted((ROOT / "benchmarks").glob("*.md"))),
    "benchmarks/graphs.py",
    "examples/quarterly.sh",
    "examples/r/read_study.R",
    "examples/r/run_study.R",
    "examples/study.ipynb",
    "src/graphveil/report/card.schema.json",
    "src/graphveil/report/ledger.schema.json",
    "packaging/Dockerfile",
    "packaging/compose.yml",
    "packaging/recipe.yaml",
)


def on_files(files: Files, config: ProperDocsConfig) -> Files:
    """Add the pages."""
    for page in PAGES:
        files.append(File.generated(config, page, abs_src_path=str(ROOT / page)))
    return files


def on_page_markdown(markdown: str, **_: object) -> str:
    """Let links between docs/ and the root lead to the one folder that the site has."""
    return re.sub(r"\]\((\.\./docs/|\.\./|docs/)", _on_the_site, markdown)


def _on_the_site(link: re.Match[str]) -> str:
    """How a link begins there; only pages of a folder beside docs/ go out of theirs."""
    return "](../" if link[1] == "../docs/" else "]("
