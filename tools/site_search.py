"""Search of the documentation that works from a folder, too: an index as a script, and no server.

A hook of ProperDocs that asks nothing of the theme. Every section of every page becomes an entry of
`search-index.js`; `docs/style/search.js` ranks them on `search.html`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

from properdocs.config.defaults import ProperDocsConfig
from properdocs.structure.pages import Page

INDEX = "search-index.js"
LEFT_OUT = ("CHANGELOG.md", "CODE_OF_CONDUCT.md", "search.md")
HEADINGS = ("h1", "h2", "h3")
SILENT = ("script", "style")
MOST = 4000  # letters of a section: enough to find it

_entries: list[dict[str, str]] = []


@dataclass
class Section:
    """A heading and the text below it."""

    anchor: str = ""
    heading: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)


class _Sections(HTMLParser):
    """The sections of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.sections = [Section()]
        self._within = ""
        self._begun = False  # a paragraph of which nothing was said yet

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "strong" and self._begun:  # a question and its answer
            self.sections.append(Section(self.sections[-1].anchor))
            self._within = tag
        self._begun = tag == "p"
        if tag in HEADINGS:
            self.sections.append(Section(given.get("id") or ""))
        if tag in (*HEADINGS, *SILENT) or "headerlink" in (given.get("class") or ""):
            self._within = tag

    def handle_endtag(self, tag: str) -> None:
        if tag == self._within:
            self._within = ""

    def handle_data(self, data: str) -> None:
        self._begun = self._begun and not data.strip()
        if self._within in (*HEADINGS, "strong"):
            self.sections[-1].heading.append(data)
        elif not self._within:
            self.sections[-1].text.append(data)


def entries(url: str, html: str) -> list[dict[str, str]]:
    """One for each section of a page: where it is, its page, its heading and its text."""
    parser = _Sections()
    parser.feed(html)
    told = [each for each in parser.sections if each.heading or "".join(each.text).strip()]
    page = _plain(told[0].heading) if told else ""
    return [
        {
            "url": f"{url}#{each.anchor}" if each.anchor and number else url,
            "page": page,
            "heading": _plain(each.heading),
            "text": _plain(each.text)[:MOST],
        }
        for number, each in enumerate(told)
    ]


def _plain(parts: list[str]) -> str:
    return " ".join("".join(parts).replace("¶", " ").split())


def script(found: list[dict[str, str]]) -> str:
    """The index as a script, which a page in a folder may load."""
    return f"const SEARCHED = {json.dumps(found, ensure_ascii=False)};\n"


def on_pre_build(config: ProperDocsConfig) -> None:
    """Begin anew: a site that is served is built again and again."""
    _entries.clear()


def on_page_content(html: str, page: Page, **_: object) -> str:
    """Note the sections of a page."""
    if page.file.src_uri not in LEFT_OUT:
        _entries.extend(entries(page.url, html))
    return html


def on_post_build(config: ProperDocsConfig) -> None:
    """Write the index."""
    Path(config.site_dir, INDEX).write_text(script(_entries), encoding="utf-8")
