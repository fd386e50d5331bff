"""A copy, a restored backup, a moved study: none goes on with noise that another may use."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from random import Random
from shutil import copytree, rmtree
from typing import Any

import pytest

from graphveil.errors import (
    GraphveilError,
    IntegrityError,
    ParameterError,
    StorageError,
    StudyError,
)
from graphveil.formats import from_rows
from graphveil.mechanisms.mechanism import Measured, registered
from graphveil.noise.laws import Law
from graphveil.noise.release_noise import ReleaseNoise
from graphveil.report import artefacts
from graphveil.study import Study
from graphveil.study.place.machine import Machine
from graphveil.study.place.witness import Standing
from graphveil.study.public.public_part import PublicPart
from graphveil.study.verification import verify
from studies import opened, people, promise, released

YEARS = 12
HUB = from_rows([("hub", 2002)], [("hub", f"P{number}") for number in range(4)])


@pytest.fixture
def here(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "here")


@pytest.fixture
def there(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "there")


def study_at(root: Path, machine: Machine) -> Study:
    return Study.at(root, machine=machine)


FOR_EDGES = sorted(registered().keys() - {"optimised-moves"})  # which needs changes that move
RESUMED = ["box-projection", "moves", "range-projection"]
# Blocks may be resumed or not, as it comes; Gaussian noise on totals cannot go on half-way.
CUT = [
    name
    for name in FOR_EDGES
    if name not in (*RESUMED, "recent-blocks")
    and (registered()[name].pure or not registered()[name].projects)
]


def published(root: Path, machine: Machine, mechanism: str = "auto", steps: int = 1) -> Study:
    """A study of twelve years with one series, of which some steps are sealed."""
    entry: dict[str, Any] = {
        "name": "edges",
        "statistic": "edges",
        "epsilon": "1/2",
        "mechanism": mechanism,
    }
    if registered().get(mechanism) and registered()[mechanism].projects:
        entry |= {"projection": 4}
    budget = {"epsilon": "1", "justification": "an example"}
    if registered().get(mechanism) and registered()[mechanism].measured is Measured.RECENT:
        entry |= {"parameters": {"window": 5}}
    if registered().get(mechanism) and not registered()[mechanism].pure:
        entry, budget = entry | {"delta": "1/1000000"}, budget | {"delta": "1/1000000"}
    calendar = {"every": 1, "unit": "year", "first": "2001", "last": "2012"}
    asked = promise(series=[entry], budget=budget, calendar=calendar)
    study = Study.create(root, asked, machine=machine)
    study.add(people())
    study.publish(through=steps - 1)
    return study


def copied(study: Study, place: Path, machine: Machine) -> Study:
    copytree(study.folder.root, place)
    return study_at(place, machine)


def noise_ahead(study: Study) -> list[int]:
    """What the stored state adds to the releases that are still to come."""
    from json import loads

    state = loads(study.committed().kept["edges"].state)
    return list(state["noise"][0][state["step"] - state["epoch_start"] :])


def raw(study: Study) -> list[int]:
    return [value[0] for _, value in sorted(released(study).items())]


@pytest.mark.parametrize("mechanism", FOR_EDGES)
def test_a_copy_cannot_be_published_beside_the_original(
    tmp_path: Path, here: Machine, there: Machine, mechanism: str
) -> None:
    study = published(tmp_path / "study", here, mechanism)
    for machine, standing in ((here, Standing.FORKED), (there, Standing.UNKNOWN)):
        copy = copied(study, tmp_path / f"copy-{standing.name}", machine)
        study.publish()
        before = copy.folder.public_ledger.read_bytes()
        for act in (partial(copy.add, HUB), copy.publish, copy.announce, copy.withdraw):
            with pytest.raises(IntegrityError, match="graphveil adopt"):
                act()
        assert copy.folder.public_ledger.read_bytes() == before
        study.publish()


@pytest.mark.parametrize("mechanism", CUT)
def test_an_adopted_copy_shares_no_noise_with_the_original(
    tmp_path: Path, here: Machine, there: Machine, mechanism: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = Random(7)

    def draw(_: ReleaseNoise, law: Law, count: int) -> list[int]:
        """Never the same twice, and large, so that equal noise shows at once."""
        return [chance.randrange(10**9, 10**12) for _ in range(count)]

    monkeypatch.setattr(ReleaseNoise, "draw", draw)
    study = published(tmp_path / "study", here, mechanism, steps=3)
    copy = copied(study, tmp_path / "copy", there)
    copy.adopt("moved to another machine")
    assert noise_ahead(copy) == []
    copy.add(HUB)
    study.publish(through=YEARS - 1)
    copy.publish(through=YEARS - 1)
    assert raw(copy)[:3] == raw(study)[:3]
    differences = [b - a for a, b in zip(raw(study), raw(copy), strict=True)][3:]
    assert not {0, 4} & set(differences)
    assert len(list(verify(copy))) == len(list(verify(study)))


@pytest.mark.parametrize("mechanism", RESUMED)
def test_noise_that_is_resumed_is_shared_with_no_other_copy(
    tmp_path: Path, here: Machine, there: Machine, mechanism: str
) -> None:
    """Two copies from one step on: what was told stays, and no later noise is that of another."""
    study = published(tmp_path / "study", here, mechanism, steps=3)
    copy = copied(study, tmp_path / "copy", there)
    (renewal,) = copy.adopt("moved to another machine")
    assert renewal.again == 2 * renewal.before.request.epsilon
    ours, theirs = noise_ahead(study), noise_ahead(copy)
    assert len(ours) == len(theirs) == YEARS - 3
    assert ours != theirs
    copy.add(HUB)
    study.publish(through=YEARS - 1)
    copy.publish(through=YEARS - 1)
    assert raw(copy)[:3] == raw(study)[:3]
    assert len(list(verify(copy))) == len(list(verify(study)))


def test_a_restored_backup_is_behind(tmp_path: Path, here: Machine) -> None:
    study = published(tmp_path / "study", here)
    copytree(study.folder.root, tmp_path / "backup")
    study.publish()
    rmtree(study.folder.root)
    copytree(tmp_path / "backup", study.folder.root)
    restored = study_at(study.folder.root, here)
    assert restored.standing() is Standing.BEHIND
    with pytest.raises(IntegrityError, match="older than what this machine saw"):
        restored.publish()
    with pytest.raises(IntegrityError, match="behind what this machine has seen"):
        list(verify(restored))
    with pytest.raises(IntegrityError, match="seen releases of this study that this copy lacks"):
        restored.adopt("the disk broke")


def test_a_backup_that_lacks_records_only_can_be_adopted(tmp_path: Path, here: Machine) -> None:
    study = published(tmp_path / "study", here)
    restored = copied(study, tmp_path / "backup", here)
    study.add(HUB)
    with pytest.raises(IntegrityError, match="older than what this machine saw"):
        restored.publish()
    restored.adopt("the disk broke")
    assert restored.standing() is Standing.IN_STEP
    restored.publish()
    assert study.publish().steps == [1]  # the lineage of the original is its own


def test_a_forked_copy_never_tells_what_it_sealed(
    tmp_path: Path, here: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is killed after its commit; another copy goes on; then it wants to finish its work."""
    study = published(tmp_path / "study", here)
    copy = copied(study, tmp_path / "copy", here)
    before = copy.folder.public_ledger.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(Machine, "remember", _killed)
        with pytest.raises(KeyboardInterrupt):
            copy.publish()
    assert len(copy.ledger().sealed) == 2
    study.publish()
    for act in (copy.publish, copy.announce, partial(copy.adopt, "to go on")):
        with pytest.raises(IntegrityError):
            act()
    assert copy.folder.public_ledger.read_bytes() == before


def _killed(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_copy_with_a_step_that_was_never_told_cannot_be_adopted_elsewhere(
    tmp_path: Path, here: Machine, there: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = published(tmp_path / "study", here)
    with monkeypatch.context() as patch:
        patch.setattr(Study, "announce", _killed)
        with pytest.raises(KeyboardInterrupt):
            study.publish()
    copy = copied(study, tmp_path / "copy", there)
    with pytest.raises(IntegrityError, match="never announced"):
        copy.adopt("moved")
    study.adopt("here it may be told, and then adopted")
    assert len(raw(study)) == 2


def test_two_copies_at_once_and_only_one_goes_on(tmp_path: Path, here: Machine) -> None:
    study = published(tmp_path / "study", here)
    copies = [copied(study, tmp_path / f"copy-{number}", here) for number in range(4)]

    def tried(copy: Study) -> list[int]:
        try:
            return copy.publish().steps
        except IntegrityError:
            return []

    with ThreadPoolExecutor(4) as pool:
        ended = list(pool.map(tried, copies))
    assert sorted(ended) == [[], [], [], [1]]
    told = [copy.folder.public_ledger.read_text().count("step sealed") for copy in copies]
    assert sorted(told) == [1, 1, 1, 2]


def test_handing_over_keeps_the_noise_and_is_good_for_one_continuation(
    tmp_path: Path, here: Machine, there: Machine
) -> None:
    study = published(tmp_path / "study", here, "bridged")
    before, ahead = copied(study, tmp_path / "before", here), noise_ahead(study)
    study.hand_over(there.code())
    for late in (study, before):
        with pytest.raises(IntegrityError):
            late.publish()
    first, second = (copied(study, tmp_path / name, there) for name in ("first", "second"))
    third = copied(study, tmp_path / "third", Machine(tmp_path / "elsewhere"))
    with pytest.raises(IntegrityError, match=f"handed over to the machine {there.code()}"):
        third.publish()
    assert noise_ahead(first) == ahead
    first.publish(through=3)
    assert noise_ahead(first) == ahead[3:]
    with pytest.raises(IntegrityError, match="older than what this machine saw"):
        second.publish()
    back = copied(first, tmp_path / "back", here)
    with pytest.raises(IntegrityError, match="handed over"):
        back.publish()
    first.hand_over(here.code())
    home = copied(first, tmp_path / "home", here)
    assert home.publish().steps == [4]
    assert [each.name for each in verify(home)][-1] == "this machine"


def test_a_hand_over_that_was_not_committed_closes_the_study(
    tmp_path: Path, here: Machine, there: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Never are two machines left that could both go on; a reader may be adopted."""
    study = published(tmp_path / "study", here)
    plain = Machine.remember

    def remember(*given: Any) -> None:
        plain(*given)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Machine, "remember", remember)
        with pytest.raises(KeyboardInterrupt):
            study.hand_over(there.code())
    with pytest.raises(IntegrityError, match="older than what this machine saw"):
        study.publish()
    study.adopt("the hand-over was interrupted")
    assert study.publish().steps == [1]


@pytest.mark.parametrize("code", ["", "0123", "x" * 16, "0123456789ABCDEF"])
def test_a_code_that_is_none_is_refused(tmp_path: Path, here: Machine, code: str) -> None:
    with pytest.raises(ParameterError, match="not the code of a machine"):
        published(tmp_path / "study", here).hand_over(code)


def test_a_machine_does_not_hand_over_to_itself(tmp_path: Path, here: Machine) -> None:
    with pytest.raises(ParameterError, match="is this machine"):
        published(tmp_path / "study", here).hand_over(here.code())


def test_every_copy_of_a_draft_is_a_study_of_its_own(
    tmp_path: Path, here: Machine, there: Machine
) -> None:
    draft = Study.create(tmp_path / "draft", promise(), machine=here)
    copy = copied(draft, tmp_path / "copy", there)
    for study in (draft, copy):
        for act in (partial(study.adopt, "why"), partial(study.hand_over, "0" * 16)):
            with pytest.raises(StudyError, match="a draft has no noise"):
                act()
        study.add(people())
        study.publish()
        assert study.standing() is Standing.IN_STEP


def test_a_study_of_an_older_graphveil_is_trusted_once(
    tmp_path: Path, here: Machine, there: Machine
) -> None:
    study = published(tmp_path / "study", here)
    with study.store.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE about SET value = '1' WHERE key = 'version'")
    old = copied(study, tmp_path / "old", there)
    assert old.standing() is Standing.NEW
    old.announce()
    old.publish()
    copy = copied(old, tmp_path / "copy", Machine(tmp_path / "third"))
    with pytest.raises(IntegrityError, match="does not know this study"):
        copy.publish()
    again = copied(study, tmp_path / "again", there)
    with pytest.raises(IntegrityError, match="older than what this machine saw"):
        again.publish()


def test_without_a_place_to_remember_nothing_is_published(tmp_path: Path, here: Machine) -> None:
    study = published(tmp_path / "study", here)
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    for machine in (Machine(blocked), Machine(blocked / "below")):
        with pytest.raises(StorageError, match="Set GRAPHVEIL_STATE to a folder that lasts"):
            study_at(study.folder.root, machine).publish()
        with pytest.raises(StorageError, match="Set GRAPHVEIL_STATE"):
            opened(tmp_path / f"new-{machine.folder.name}", machine=machine)
    assert len(study.ledger().sealed) == 1


def test_a_memory_that_cannot_be_read_is_not_taken_for_none(tmp_path: Path, here: Machine) -> None:
    study = published(tmp_path / "study", here)
    (seen,) = here.folder.rglob("seen.json")
    for text in ("", "{}", "[]", '{"lineages": {"a": 1}}', '{"lineages": []}', "\udce4"):
        seen.write_bytes(text.encode("utf-8", "surrogateescape"))
        with pytest.raises(GraphveilError):
            study.publish()


def test_what_is_remembered_is_for_the_owner_only_and_tells_no_count(
    tmp_path: Path, here: Machine
) -> None:
    study = published(tmp_path / "study", here, steps=2)
    here.code()
    for path in [here.folder, *here.folder.rglob("*")]:
        assert path.stat().st_mode & 0o077 == 0, path
    (seen,) = here.folder.rglob("seen.json")
    rows = {row.hash for row in study.ledger().rows} | {"newest", "told"}
    words = set(re.findall(r"[0-9a-f]{64}", seen.read_text()))
    assert words <= rows
    assert str(tmp_path) not in seen.read_text()


@pytest.mark.parametrize("left", ["ledger.jsonl", "releases.csv", "card.json", "report.html"])
def test_any_public_file_that_shows_more_tells_of_a_restored_backup(
    tmp_path: Path, here: Machine, left: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both parts are restored, on a machine that has never seen the study, but for one file."""
    study = published(tmp_path / "study", here)
    public = study.folder.public
    show(public, monkeypatch)
    old = copied(study, tmp_path / "old", Machine(tmp_path / "elsewhere"))
    study.publish()
    show(public, monkeypatch)
    assert old.standing() is Standing.UNKNOWN
    assert not old.committed().is_behind
    (old.folder.public / left).write_bytes((public / left).read_bytes())
    if left != "ledger.jsonl":
        old.folder.public_ledger.unlink()
    for act in (old.committed, old.publish, partial(old.adopt, "the disk broke")):
        with pytest.raises(IntegrityError, match=left):
            act()


def show(public: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write table, card and page; without pictures, which take their time."""
    monkeypatch.setattr("graphveil.report.charts.chart.drawing", lambda *_, **__: b"<svg/>")
    for each in artefacts(PublicPart.read(public)):
        if "/" not in each.path:
            (public / each.path).write_bytes(each.make())


def test_page_and_card_tell_of_an_adoption(
    tmp_path: Path, here: Machine, there: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = published(tmp_path / "study", here, "bridged", steps=3)
    copy = copied(study, tmp_path / "copy", there)
    before = PublicPart.read(copy.folder.public)
    (renewal,) = copy.adopt("  the old server\nis lost.  ")
    assert renewal.after.outlook(3)[0] > renewal.before.outlook(3)[0]
    copy.publish()
    show(copy.folder.public, monkeypatch)
    part = PublicPart.read(copy.folder.public)
    assert part.spent == before.spent
    (made,) = part.series
    assert [each.noise_std for each in made.releases] == list(made.predicted_std[:4])
    assert len(made.predicted_std) == YEARS == sum(each.steps for each in made.noise)
    for name in ("card.json", "report.html"):
        text = (copy.folder.public / name).read_text()
        assert "After 2003, this study went on from a copy" in text
        assert "reason: the old server is lost. The guarantee stays" in text
    for reason in ("", "  ", "x" * 1001):
        with pytest.raises(ParameterError, match="reason"):
            copy.adopt(reason)
