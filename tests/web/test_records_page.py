"""Records on the page, without scripts: brought, looked at, mapped by hand, kept or discarded."""

from __future__ import annotations

import io
import re
import stat
import threading
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from commands import ROOT
from graphveil.errors import StudyError
from graphveil.graph.groups import Groups
from graphveil.graph.intake.records import IntakeReport
from graphveil.steward import drafting, previewing
from graphveil.steward.adding import add
from graphveil.steward.custody import KnownStudy, opened
from graphveil.steward.requests import SeriesRequest
from graphveil.steward.staging import LONGEST, StagingArea, safe_name
from graphveil.steward.status import status
from graphveil.steward.verifying import Outcome, verify
from sites import Visitor, entered, running, small_study, text_of
from steward import EDGES, NODES
from study_requests import REQUEST

MESSY_EDGES = "source,target\nP0,P1\nP1,P0\nP2,P2\nP3,nobody\n"
STRANGE = "Pat No,Seen on,Ward\nA1,2001-02-03,3\nA2,2002-03-04,4\n"
PAIRS = "Left,Right,Apart\nA1,A2,0.01\n"


@pytest.fixture
def study(tmp_path: Path) -> KnownStudy:
    return small_study(tmp_path, records=False)


def look(visitor: Visitor, study: KnownStudy, **said: str) -> str:
    path = f"/study/{study.key}/records"
    return visitor.done(visitor.post(f"{path}/look", at=path, **said))


def keep(visitor: Visitor, study: KnownStudy) -> str:
    path = f"/study/{study.key}/records"
    fingerprint = StagingArea.of(study.folder).brought().fingerprint
    return visitor.done(visitor.post(f"{path}/keep", at=path, fingerprint=fingerprint))


def discard(visitor: Visitor, study: KnownStudy) -> str:
    path = f"/study/{study.key}/records"
    return visitor.post(f"{path}/discard", at=path, file=shown(visitor, study)).text


def shown(visitor: Visitor, study: KnownStudy) -> list[str]:
    """The marks of the files that a page shows."""
    page = visitor.get(f"/study/{study.key}/records").text
    return re.findall(r'name="file" value="([^"]+)"', page)


def test_files_are_looked_at_and_kept(visitor: Visitor, study: KnownStudy) -> None:
    said = text_of(visitor.bring(study, {"nodes.csv": NODES, "edges.csv": EDGES}).text)
    assert "PRIVATE" in said
    assert "node person time date" in said
    assert "source one end target other end" in said
    assert "Keep these records" not in said
    said = look(visitor, study)
    assert "8 nodes added" in said
    assert "6 edges added" in said
    assert "Keep these records" in said
    assert status(study.folder).is_open is False, "looking opens nothing"
    said = keep(visitor, study)
    assert "Kept as batch 1" in said
    assert status(study.folder).private.batches_waiting == 1
    assert StagingArea.of(study.folder).files() == ()
    assert not (study.folder / "private" / "tray").exists()


def test_what_becomes_of_records_is_told_by_rule(visitor: Visitor, study: KnownStudy) -> None:
    visitor.bring(study, {"nodes.csv": NODES + "P0,2001\n", "edges.csv": MESSY_EDGES})
    said = look(visitor, study, strict="yes")
    assert "“Refuse everything at the first row that breaks a rule”" in said
    assert "--" not in said.replace("–", "")
    assert "Keep these records" not in said
    said = look(visitor, study)
    assert "Look first: more than a tenth of the rows of edges would be set aside" in said
    refused = keep(visitor, study)
    assert "more than a tenth" in refused
    assert "Records that are missing Adding" in refused
    assert status(study.folder).is_open is False
    said = look(visitor, study, yes="yes")
    assert "Merged 1 node listed more than once with the same step: merged" in said
    assert "Dropped 1 edge from a node to itself: left out" in said
    assert "Set aside 1 edge to somebody who is not known yet" in said
    kept = keep(visitor, study)
    assert "Kept as batch 2" in kept, "the first attempt has used up a number"
    assert "Records that are missing" not in kept


def test_records_that_were_refused_can_be_given_up(visitor: Visitor, study: KnownStudy) -> None:
    visitor.bring(study, {"nodes.csv": "node,time\nP0,soon\n"})
    look(visitor, study)
    assert "Records that are missing" in keep(visitor, study)
    path = f"/study/{study.key}/records"
    assert "These records are given up" in visitor.post(f"{path}/abandon", at=path).text
    assert status(study.folder).private.unsettled == ""


def test_columns_are_mapped_by_hand(visitor: Visitor, study: KnownStudy) -> None:
    said = text_of(visitor.bring(study, {"people.csv": STRANGE, "pairs.csv": PAIRS}).text)
    assert "Not recognised yet" in said
    assert "2001-02-03" in said, "the first rows are shown all the same"
    mapped = {"id": "Pat No", "time": "Seen on", "source": "Left", "target": "Right"}
    said = look(visitor, study, **mapped)
    assert "Pat No person Seen on date" in said
    assert "2 nodes added" in said
    page = visitor.get(f"/study/{study.key}/records").text
    assert "<option selected>Seen on</option>" in page
    assert "Kept as batch 1" in keep(visitor, study)


def test_hivtrace_results_ask_for_their_date(visitor: Visitor, study: KnownStudy) -> None:
    content = (ROOT / "examples" / "formats" / "hivtrace" / "results.json").read_text()
    content = content.replace("2019", "2001").replace("2020", "2002").replace("2021", "2003")
    page = visitor.bring(study, {"results.json": content}).text
    assert "dx_date" in text_of(page)
    assert "no field was named as the date" in look(visitor, study)
    said = look(visitor, study, time="sample_date")
    assert "nodes added" in said, said


def test_excel_sheets_are_looked_into(visitor: Visitor, study: KnownStudy) -> None:
    xlsxwriter = pytest.importorskip("xlsxwriter")
    content = io.BytesIO()
    with xlsxwriter.Workbook(content) as book:
        for name, text in (("People", NODES), ("Links", EDGES)):
            sheet = book.add_worksheet(name)
            for row, line in enumerate(text.splitlines()):
                sheet.write_row(row, 0, line.split(","))
    said = text_of(visitor.bring(study, {"cases.xlsx": content.getvalue()}).text)
    assert "cases.xlsx#People" in said
    assert "8 nodes added" in look(visitor, study)


def test_files_are_discarded(visitor: Visitor, study: KnownStudy) -> None:
    visitor.bring(study, {"nodes.csv": NODES})
    assert "Nothing was kept" in discard(visitor, study)
    assert not (study.folder / "private" / "tray").exists()


def test_only_what_was_looked_at_is_kept(visitor: Visitor, study: KnownStudy) -> None:
    visitor.bring(study, {"nodes.csv": NODES, "edges.csv": EDGES})
    look(visitor, study)
    before = StagingArea.of(study.folder).brought().fingerprint
    visitor.bring(study, {"edges.csv": "source,target\nP0,P1\n"})
    path = f"/study/{study.key}/records"
    said = visitor.done(visitor.post(f"{path}/keep", at=path, fingerprint=before))
    assert "have changed since: look at them again" in said
    assert "Keep these records" not in said
    assert status(study.folder).is_open is False


class Pause:
    """Holds up a piece of work while something else happens."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun, self.go_on = threading.Event(), threading.Event()
        monkeypatch.setattr("graphveil.web.pages.records.add", self._add)

    def _add(self, *given: Any, **more: Any) -> Any:
        if not more["how"].dry_run:
            self.begun.set()
            assert self.go_on.wait(60)
        return add(*given, **more)


def test_what_comes_while_records_are_kept_stays_as_it_is(
    visitor: Visitor, study: KnownStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    pause = Pause(monkeypatch)
    path, staging = f"/study/{study.key}/records", StagingArea.of(study.folder)
    visitor.bring(study, {"nodes.csv": NODES, "edges.csv": EDGES})
    look(visitor, study)
    mark = staging.brought().fingerprint
    answer = visitor.post(f"{path}/keep", at=path, fingerprint=mark)
    assert pause.begun.wait(60)
    later = {f"later-{n}.csv": f"node,time\nL{n},2001\n" for n in range(12)}
    token = visitor.token(f"/study/{study.key}/verify")
    bring_with(visitor, study, token, {**later, "edges.csv": "source,target\nP0,P7\n"})
    pause.go_on.set()
    said = visitor.done(answer)
    assert "Kept as batch 1" in said
    assert "8 nodes added" in said
    assert "6 edges added" in said, "what was looked at, not what came under the same name"
    assert {each.name for each in staging.files()} == {*later, "edges.csv"}
    assert (staging.folder / "files" / "edges.csv").read_text() == "source,target\nP0,P7\n"


def bring_with(
    visitor: Visitor, study: KnownStudy, token: str, files: Mapping[str, str]
) -> httpx.Response:
    """Files of another tab, whose page was loaded before."""
    return visitor.client.post(
        f"/study/{study.key}/records/upload", data={"csrf": token},
        files=[("files", each) for each in files.items()], headers={"origin": visitor.origin},
    )  # fmt: skip


def test_files_that_were_removed_meanwhile_are_not_kept(
    visitor: Visitor, study: KnownStudy
) -> None:
    visitor.bring(study, {"nodes.csv": NODES, "edges.csv": EDGES})
    staging = StagingArea.of(study.folder)
    brought = staging.brought()
    staging.remove(brought.marks[:1])
    with pytest.raises(StudyError, match="have changed since"), staging.held(brought):
        pass
    assert [each.name for each in staging.folder.iterdir()] == ["files"]


def test_discarding_leaves_what_the_page_did_not_show(visitor: Visitor, study: KnownStudy) -> None:
    visitor.bring(study, {"nodes.csv": NODES, "edges.csv": EDGES})
    marks = shown(visitor, study)
    visitor.bring(study, {"later.csv": NODES, "edges.csv": "source,target\n"})
    path = f"/study/{study.key}/records"
    visitor.post(f"{path}/discard", at=path, file=marks)
    assert [each.name for each in StagingArea.of(study.folder).files()] == [
        "edges.csv",
        "later.csv",
    ]


def test_an_upload_leaves_the_half_file_of_another(study: KnownStudy) -> None:
    staging = StagingArea.of(study.folder)
    with staging.receiving("slow.csv") as slow:
        slow.write(b"node,time\n")
        slow.flush()
        with staging.receiving("fast.csv") as fast:
            fast.write(NODES.encode())
        staging.remove(staging.brought().marks)
        slow.write(b"P0,2001\n")
    assert [each.name for each in staging.files()] == ["slow.csv"]
    assert staging.files()[0].read_text() == "node,time\nP0,2001\n"


def test_what_a_killed_program_left_is_removed_by_the_next_upload(study: KnownStudy) -> None:
    staging = StagingArea.of(study.folder)
    with staging.receiving("a.csv") as file:
        file.write(NODES.encode())
    left = f".graphveil-{'0' * 32}.part"
    (staging.folder / left).mkdir()
    (staging.folder / left / "nodes.csv").write_text(NODES)
    (staging.folder / "files" / left).write_text("node,t")
    with staging.receiving("b.csv") as file:
        file.write(NODES.encode())
    assert [each.name for each in staging.folder.iterdir()] == ["files"]
    assert [each.name for each in staging.files()] == ["a.csv", "b.csv"]


def test_a_file_system_without_links_holds_copies(
    study: KnownStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    staging = StagingArea.of(study.folder)
    with staging.receiving("a.csv") as file:
        file.write(NODES.encode())
    with staging.held(staging.brought()) as [own]:
        assert own.read_text() == NODES


def test_the_latest_batch_is_withdrawn(visitor: Visitor, study: KnownStudy) -> None:
    visitor.bring(study, {"nodes.csv": NODES, "edges.csv": EDGES})
    look(visitor, study)
    keep(visitor, study)
    path = f"/study/{study.key}/records"
    assert "Batch 1 was withdrawn" in visitor.post(f"{path}/withdraw", at=path, batch="1").text
    assert status(study.folder).private.batches_waiting == 0


@pytest.mark.parametrize(
    "name",
    ["../../public/report.html", "..\\..\\public\\study.toml", "/etc/cron.d/x", "....//x.csv",
     "nodes.csv/../../ledger.sqlite", ".hidden", "..", ".", "CON", "a\0b.csv", "x" * 400 + ".csv",
     "%2e%2e%2fpublic%2fx", "book.xlsx#Sheet1", "sqlite:///etc/passwd#t", "~root/x", "-rf",
     "é ü.csv", "tray/../../x", "file:///etc/passwd", "C:\\Windows\\x.csv", "\u202egnp.csv"],
)  # fmt: skip
def test_no_name_leads_out_of_the_tray(visitor: Visitor, study: KnownStudy, name: str) -> None:
    root = study.folder.parent
    before = {path for path in root.rglob("*") if "tray" not in path.parts}
    visitor.bring(study, {name: NODES})
    after = {path for path in root.rglob("*") if "tray" not in path.parts}
    assert after - before <= {study.folder / "private" / "lock"}
    [file] = StagingArea.of(study.folder).files()
    assert file.parent == study.folder / "private" / "tray" / "files"
    assert "\0" in name or file.name == safe_name(name)  # which clients write as %00
    assert len(file.name) <= LONGEST
    assert not set(file.name) & set("/\\#:\0~%")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert verify(study.folder).outcome is Outcome.PASSED


def test_files_beyond_the_limit_leave_nothing(tmp_path: Path, study: KnownStudy) -> None:
    with running(tmp_path, most_bytes=10_000) as site:
        visitor = entered(site)
        answer = visitor.bring(study, {"small.csv": NODES, "large.csv": b"x" * 20_000})
        assert answer.status_code == 413
        assert [path.name for path in StagingArea.of(study.folder).files()] == ["small.csv"]
        assert len(list((study.folder / "private" / "tray" / "files").iterdir())) == 1


def raw(visitor: Visitor, study: KnownStudy, body: bytes, kind: str) -> httpx.Response:
    headers = {"origin": visitor.origin, "content-type": kind}
    return visitor.client.post(f"/study/{study.key}/records/upload", content=body, headers=headers)


@pytest.mark.parametrize("token", ["late", "none", "wrong", "long"])
def test_nothing_is_stored_before_the_token(
    visitor: Visitor, study: KnownStudy, token: str
) -> None:
    said = {
        "late": visitor.token(f"/study/{study.key}/records"), "wrong": "x", "long": "x" * 100_000,
    }.get(token, "")  # fmt: skip
    part = b'--b\r\nContent-Disposition: form-data; name="%s"%s\r\n\r\n%s\r\n'
    file = part % (b"files", b'; filename="x.csv"', b"node,time\n")
    own = part % (b"csrf", b"", said.encode())
    parts = {"late": file + own, "none": file}.get(token, own + file)
    answer = raw(visitor, study, parts + b"--b--\r\n", "multipart/form-data; boundary=b")
    assert answer.status_code == 403
    assert StagingArea.of(study.folder).files() == ()


@pytest.mark.parametrize(
    ("body", "kind", "code"),
    [
        (b"", "multipart/form-data", 415),
        (b"csrf=x", "application/x-www-form-urlencoded", 415),
        (b"--b\r\nnonsense", "multipart/form-data; boundary=b", 400),
        (b"x", "multipart/form-data; boundary=b", 400),
        (b"", "text/plain", 415),
    ],
)
def test_forms_that_are_none_are_refused(
    visitor: Visitor, study: KnownStudy, body: bytes, kind: str, code: int
) -> None:
    assert raw(visitor, study, body, kind).status_code == code
    assert StagingArea.of(study.folder).files() == ()


def test_a_tray_that_is_a_link_is_refused(
    visitor: Visitor, study: KnownStudy, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (study.folder / "private" / "tray").symlink_to(tmp_path / "elsewhere")
    assert "is a link" in visitor.bring(study, {"x.csv": NODES}).text
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_strange_files_are_refused_in_words(visitor: Visitor, study: KnownStudy) -> None:
    for name, content in {
        "empty.csv": b"", "broken.xlsx": b"PK\x03\x04 no book", "binary.csv": bytes(range(256)),
        "deep.json": b"{" * 5000, "half.json": b'{"Nodes": [',
    }.items():  # fmt: skip
        answer = visitor.bring(study, {name: content})
        assert answer.status_code == 200, name
        assert "internal error" not in look(visitor, study), name
        discard(visitor, study)


def test_strange_options_are_refused_in_words(visitor: Visitor, study: KnownStudy) -> None:
    visitor.bring(study, {"nodes.csv": NODES, "edges.csv": EDGES})
    for name, value in {
        "max_distance": "far", "encoding": "klingon", "undated": "maybe", "where": "nonsense",
        "format": "none such", "id": "no such column",
    }.items():  # fmt: skip
        said = look(visitor, study, **{name: value})
        assert "Keep these records" not in said, name
        assert "internal error" not in said, name
    assert "8 nodes added" in look(visitor, study)


def test_every_rule_belongs_to_one_group() -> None:
    listed = [name for names in previewing._GROUPS.values() for name in names]
    assert sorted(listed) == sorted(each.name for each in fields(IntakeReport))


def test_a_column_of_labels_is_chosen_beside_its_public_list(
    visitor: Visitor, tmp_path: Path
) -> None:
    request = replace(
        REQUEST,
        groups=Groups.of(["region=North|South"]),
        series=(SeriesRequest("nodes", {"by": "region"}, epsilon="1/2"),),
    )
    drafting.create(tmp_path / "grouped", request)
    study = opened(tmp_path / "grouped")
    nodes = "node,time,County\nP0,2001,North\nP1,2001,Mars\n"
    visitor.bring(study, {"nodes.csv": nodes})
    said = text_of(visitor.get(f"/study/{study.key}/records").text)
    assert "Its list: North, South, other, unknown." in said
    assert "no column was named for the group 'region'" in look(visitor, study)
    assert "under “Groups”" in look(visitor, study)
    said = look(visitor, study, **{"grouped": "region", "group-region": "County"})
    assert "2 nodes added" in said
    assert "person date region P0 2001 North P1 2001 Mars" in said
    page = visitor.get(f"/study/{study.key}/records").text
    assert "<option selected>County</option>" in page
    assert "not on its list" in said  # half of the rows: it asks first
    assert "Kept as batch" not in keep(visitor, study)
    look(visitor, study, **{"grouped": "region", "group-region": "County", "yes": "yes"})
    assert "Kept as batch" in keep(visitor, study)


def test_from_a_workbook_with_regions_to_a_page_with_the_breakdown(
    visitor: Visitor, tmp_path: Path
) -> None:
    xlsxwriter = pytest.importorskip("xlsxwriter")
    request = replace(
        REQUEST,
        groups=Groups.of(["region=North|South"]),
        series=(
            SeriesRequest("nodes", {"by": "region"}, epsilon="1/2", name="people"),
            SeriesRequest("edges", {"by": "region"}, epsilon="1/2", name="links"),
        ),
        ratios=("between = links[between]/links",),
    )
    drafting.create(tmp_path / "regions", request)
    study, content = opened(tmp_path / "regions"), io.BytesIO()
    people = [("node", "time", "County"), *((f"P{n}", 2001, "South") for n in range(4))]
    with xlsxwriter.Workbook(content) as book:
        for name, rows in (("People", people), ("Links", [("source", "target"), ("P0", "P1")])):
            sheet = book.add_worksheet(name)
            for place, row in enumerate(rows):
                sheet.write_row(place, 0, row)
    visitor.bring(study, {"cases.xlsx": content.getvalue()})
    said = look(visitor, study, **{"grouped": "region", "group-region": "County"})
    assert "4 nodes added" in said
    assert "Kept as batch" in keep(visitor, study)
    path = f"/study/{study.key}/publish"
    said = visitor.done(visitor.post(path, through="2002", typed="2002"))
    assert "Published: 2001 to 2002" in said
    assert "true, 95% sure" in said
    numbers = said.partition("95% sure")[2].partition("See the public page")[0]
    for cell in ("people, North", "people, unknown", "links, North and South"):
        assert re.search(rf"{cell} [-\d]+ (at most \d+|\d+ to \d+) ", numbers), "not below 0"
    shown = text_of(visitor.get(f"/study/{study.key}/public/report.html").text)
    assert "links[between]/links" in shown
    assert all(word in shown for word in ("North", "South", "unknown"))
    (file,) = (study.folder / "public").rglob("links.csv")
    table = file.read_text(encoding="utf-8")
    assert table.splitlines()[0].count("region") == 2
