"""A copy, a restored backup, a moved study: none goes on with noise that another may use."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import product
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
from graphveil.mechanisms.following import SPARE
from graphveil.mechanisms.mechanism import Measured, registered
from graphveil.noise.laws import Law
from graphveil.noise.release_noise import ReleaseNoise
from graphveil.records import from_rows
from graphveil.report.artefacts import artefacts
from graphveil.study import StoredStudy, opening
from graphveil.study.machine import Machine
from graphveil.study.public_part import PublicPart
from graphveil.study.verification import verify
from graphveil.study.witness import WitnessVerdict
from studies import opened, people, promise, released

YEARS = 12
HUB = from_rows([("hub", 2002)], [("hub", f"P{number}") for number in range(4)])


@pytest.fixture
def here(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "here")


@pytest.fixture
def there(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "there")


def study_at(root: Path, machine: Machine) -> StoredStudy:
    return StoredStudy.at(root, machine=machine)


FOR_EDGES = sorted(registered().keys() - {"optimised-moves"})  # which needs changes that move
RESUMED = ["box-projection", "following", "moves", "range-projection"]
# Blocks may be resumed or not, as it comes; Gaussian noise on totals cannot go on half-way.
CUT = [
    name
    for name in FOR_EDGES
    if name not in (*RESUMED, "recent-blocks")
    and (registered()[name].pure or not registered()[name].projects)
]


def published(root: Path, machine: Machine, mechanism: str = "auto", steps: int = 1) -> StoredStudy:
    """A study of twelve years with one series, of which some steps are sealed."""
    entry: dict[str, Any] = {
        "name": "edges",
        "statistic": "edges",
        "epsilon": "1/2",
        "mechanism": mechanism,
    }
    if registered().get(mechanism) and registered()[mechanism].projects:
        entry |= {"projection": "follow:20" if registered()[mechanism].follows else 4}
    budget = {"epsilon": "1", "justification": "an example"}
    if registered().get(mechanism) and registered()[mechanism].measured is Measured.RECENT:
        entry |= {"parameters": {"window": 5}}
    if registered().get(mechanism) and not registered()[mechanism].pure:
        entry, budget = entry | {"delta": "1/1000000"}, budget | {"delta": "1/1000000"}
    calendar = {"every": 1, "unit": "year", "first": "2001", "last": "2012"}
    asked = promise(series=[entry], budget=budget, calendar=calendar)
    study = StoredStudy.create(root, asked, machine=machine)
    study.add(people())
    study.publish(through=steps - 1)
    return study


def copied(study: StoredStudy, place: Path, machine: Machine) -> StoredStudy:
    copytree(study.folder.root, place)
    return study_at(place, machine)


def noise_ahead(study: StoredStudy) -> list[int]:
    """What the stored state adds to the releases that are still to come."""
    from json import loads

    state = loads(study.committed().stored_series["edges"].state)
    return list(state["noise"][0][state["step"] - state["epoch_start"] :])


def raw(study: StoredStudy) -> list[int]:
    return [value[0] for _, value in sorted(released(study).items())]


@pytest.mark.parametrize("mechanism", FOR_EDGES)
def test_a_copy_cannot_be_published_beside_the_original(
    tmp_path: Path, here: Machine, there: Machine, mechanism: str
) -> None:
    study = published(tmp_path / "study", here, mechanism)
    for machine, standing in ((here, WitnessVerdict.FORKED), (there, WitnessVerdict.UNKNOWN)):
        copy = copied(study, tmp_path / f"copy-{standing.name}", machine)
        study.publish()
        before = copy.folder.public_ledger.read_bytes()
        for act in (partial(copy.add, HUB), copy.publish, copy.announce, partial(copy.withdraw, 1)):
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
    spare = SPARE if registered()[mechanism].follows else 0
    assert len(ours) == len(theirs) == YEARS - 3 + spare
    assert ours[spare:] != theirs[spare:]
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
    assert restored.verdict() is WitnessVerdict.BEHIND
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
    assert restored.verdict() is WitnessVerdict.IN_STEP
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
        patch.setattr(StoredStudy, "announce", _killed)
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

    def tried(copy: StoredStudy) -> list[int]:
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


def interrupted_hand_over(study: StoredStudy, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kill a hand-over once it is remembered, and before it is committed."""
    plain = Machine.remember

    def remember(*given: Any) -> None:
        plain(*given)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Machine, "remember", remember)
        with pytest.raises(KeyboardInterrupt):
            study.hand_over(code)
    assert study.verdict() is WitnessVerdict.HANDING


def test_an_interrupted_hand_over_closes_the_study_until_it_is_adopted(
    tmp_path: Path, here: Machine, there: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Never are two machines left that could both go on; a reader may be adopted."""
    study = published(tmp_path / "study", here)
    interrupted_hand_over(study, there.code(), monkeypatch)
    with pytest.raises(IntegrityError, match=f"hand-over FOLDER --to {there.code()}` again"):
        study.publish()
    study.adopt("the hand-over was interrupted")
    assert study.publish().steps == [1]


def test_an_interrupted_hand_over_is_finished_by_the_same_command(
    tmp_path: Path, here: Machine, there: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the very same row, so that of two who were given it, one goes on."""
    study = published(tmp_path / "study", here, "bridged")
    before, ahead = copied(study, tmp_path / "before", here), noise_ahead(study)
    interrupted_hand_over(study, there.code(), monkeypatch)
    with pytest.raises(ParameterError, match=f"Give --to {there.code()}"):
        study.hand_over("0123456789abcdef")
    for _ in range(2):  # the second time there is nothing to be done
        study.hand_over(there.code())
        with pytest.raises(IntegrityError, match="handed over to the machine"):
            study.publish()
    before.hand_over(there.code())
    assert before.ledger().last == study.ledger().last
    first, second = (
        copied(each, tmp_path / f"of-{n}", there) for n, each in enumerate((study, before))
    )
    first.publish()
    assert noise_ahead(first) == ahead[1:]
    with pytest.raises(IntegrityError, match="older than what this machine saw"):
        second.publish()
    assert list(verify(first))


def test_a_hand_over_is_not_finished_where_the_study_has_gone_on(
    tmp_path: Path, here: Machine, there: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = published(tmp_path / "study", here)
    old = copied(study, tmp_path / "old", here)
    study.publish()
    interrupted_hand_over(study, there.code(), monkeypatch)
    assert old.verdict() is WitnessVerdict.BEHIND
    with pytest.raises(IntegrityError, match="older than what this machine saw"):
        old.hand_over(there.code())


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
    draft = StoredStudy.create(tmp_path / "draft", promise(), machine=here)
    copy = copied(draft, tmp_path / "copy", there)
    for study in (draft, copy):
        for act in (partial(study.adopt, "why"), partial(study.hand_over, "0" * 16)):
            with pytest.raises(StudyError, match="a draft has no noise"):
                act()
        study.add(people())
        study.publish()
        assert study.verdict() is WitnessVerdict.IN_STEP


def set_version(study: StoredStudy, version: str) -> None:
    with study.store.engine.begin() as connection:
        connection.exec_driver_sql(f"UPDATE about SET value = '{version}' WHERE key = 'version'")


def test_a_study_of_an_older_graphveil_is_trusted_once(
    tmp_path: Path, here: Machine, there: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as earlier:
        earlier.setattr(opening, "VERSION", 0)  # it said no version when it opened a study
        study = published(tmp_path / "study", here)
    set_version(study, "1")
    old = copied(study, tmp_path / "old", there)
    assert old.verdict() is WitnessVerdict.NEW
    old.announce()
    old.publish()
    copy = copied(old, tmp_path / "copy", Machine(tmp_path / "third"))
    with pytest.raises(IntegrityError, match="does not know this study"):
        copy.publish()
    again = copied(study, tmp_path / "again", there)
    with pytest.raises(IntegrityError, match="older than what this machine saw"):
        again.publish()


def test_one_changed_cell_does_not_make_a_study_an_older_one(
    tmp_path: Path, here: Machine, there: Machine
) -> None:
    """The row that opens it says the version, too."""
    study = published(tmp_path / "study", here)
    assert study.ledger().rows[0].secret == {"version": 2}
    set_version(study, "1")
    copy = copied(study, tmp_path / "copy", there)
    for each, act in product((study, copy), ("publish", "announce", "verdict", "ledger")):
        with pytest.raises(IntegrityError, match="has version 1, but the study was opened"):
            getattr(StoredStudy.at(each.folder.root, machine=each.machine), act)()
    with pytest.raises(IntegrityError, match="has version 1"):
        list(verify(StoredStudy.at(copy.folder.root, machine=there)))


def test_an_adopted_or_handed_study_is_of_no_older_graphveil(
    tmp_path: Path, here: Machine, there: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as earlier:
        earlier.setattr(opening, "VERSION", 0)
        study = published(tmp_path / "study", here)
    study.adopt("to try it")
    set_version(study, "1")
    assert copied(study, tmp_path / "copy", there).verdict() is WitnessVerdict.UNKNOWN


def test_a_restored_home_directory_is_noticed(tmp_path: Path) -> None:
    """Study and memory come back together: neither is behind the other."""
    home = tmp_path / "home"
    study = published(home / "study", Machine(home / "state"))
    copytree(home, tmp_path / "restored")
    study.publish()
    back = study_at(tmp_path / "restored" / "study", Machine(tmp_path / "restored" / "state"))
    assert back.verdict() is WitnessVerdict.RESTORED
    for act in (back.publish, partial(back.add, HUB), partial(back.withdraw, 1), back.announce):
        with pytest.raises(IntegrityError, match="was copied or restored itself") as refused:
            act()
        assert len(str(refused.value)) < 300
    assert [each.found for each in verify(back)][-1] == WitnessVerdict.RESTORED.value
    other = copied(back, tmp_path / "restored" / "other", back.machine)
    back.adopt("the home directory was restored")
    assert back.publish().steps == [1]
    assert other.verdict() is WitnessVerdict.RESTORED  # it still has the noise of before
    assert study.publish().steps == [2]


def test_a_copied_state_folder_is_handed_nothing(tmp_path: Path, here: Machine) -> None:
    """Otherwise two machines had one code, and both would take what is handed over."""
    taker = Machine(tmp_path / "home" / "state")
    code = taker.code()
    copytree(tmp_path / "home", tmp_path / "copy")
    twin = Machine(tmp_path / "copy" / "state")
    assert twin.known_code() == ""
    study = published(tmp_path / "study", here)
    study.hand_over(code)
    assert copied(study, tmp_path / "first", twin).verdict() is WitnessVerdict.ELSEWHERE
    assert twin.code() != code
    assert copied(study, tmp_path / "second", taker).publish().steps == [1]


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
    assert old.verdict() is WitnessVerdict.UNKNOWN
    assert not old.committed().is_behind
    (old.folder.public / left).write_bytes((public / left).read_bytes())
    if left != "ledger.jsonl":
        old.folder.public_ledger.unlink()
    for act in (old.committed, old.publish, partial(old.adopt, "the disk broke")):
        with pytest.raises(IntegrityError, match=left):
            act()


def show(public: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write table, card and page; without pictures, which take their time."""
    monkeypatch.setattr("graphveil.report.charts.drawing", lambda *_, **__: b"<svg/>")
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
