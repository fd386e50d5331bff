"""The public history: the orders that can have happened are read, and every other is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphveil.errors import GraphveilError, IntegrityError
from graphveil.study import StoredStudy
from graphveil.study.chain import PublicRow
from graphveil.study.facts import Event, NoiseFact, RenewedSeries, StudyAdopted
from graphveil.study.history import History
from graphveil.study.ledger import Ledger
from graphveil.study.promise_entries import SeriesPromise
from graphveil.study.public_part import PublicPart
from public_parts import Chain, promise, published, series_fact
from public_parts import opened as opened_chain
from studies import opened

Told = tuple[str, dict[str, Any]]  # a row as it was announced, without its place in a chain
SERIES, SEALED, RELEASE = Event.SERIES_OPENED, Event.STEP_SEALED, Event.RELEASE_MADE


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> StoredStudy:
    """Two series from the start, a third from the third step on, three steps published."""
    made = opened(tmp_path_factory.mktemp("study") / "county")
    made.publish(1)
    made.open_series(SeriesPromise(name="late", statistic="nodes", epsilon="1/8"))
    made.publish(2)
    return made


@pytest.fixture(scope="module")
def told(study: StoredStudy) -> list[Told]:
    return [(row.event, row.fact) for row in study.ledger().public_rows]


def rechained(told: Sequence[Told]) -> tuple[PublicRow, ...]:
    """The rows in another order, with hashes as someone who knows how would make them."""
    chain = Chain()
    for event, fact in told:
        chain.add(event, fact)
    return tuple(chain.rows)


def history(told: Sequence[Told]) -> History:
    return History.of([row.announcement("the chain") for row in rechained(told)], "the chain")


def refused_at(told: Sequence[Told]) -> int | None:
    """The row that a refusal names; None where nothing is refused."""
    try:
        history(told)
    except GraphveilError as error:
        return int(re.findall(r"^the chain, row (\d+)", str(error))[0])
    return None


def blocks(told: Sequence[Told]) -> list[int]:
    """Rows of one block happened at once, so that their order means nothing."""
    found, last = [], None
    for number, (event, _) in enumerate(told):
        found.append(found[-1] if event == last and event in (SERIES, RELEASE) else number)
        last = event
    return found


def test_the_chain_of_the_tests_has_every_public_event(told: list[Told]) -> None:
    counted = [sum(event == kind for event, _ in told) for kind in (SERIES, SEALED, RELEASE)]
    assert counted == [3, 3, 7]
    assert refused_at(told) is None


def test_swapped_rows_are_refused_unless_they_happened_at_once(told: list[Told]) -> None:
    block, refused = blocks(told), 0
    for i, j in combinations(range(len(told)), 2):
        swapped = list(told)
        swapped[i], swapped[j] = swapped[j], swapped[i]
        found = refused_at(swapped)
        if block[i] == block[j]:
            assert found is None, (i, j)
        else:
            assert found is not None, (i, j)
            assert found >= i
            refused += 1
    assert refused > 70


def test_a_dropped_row_is_refused(told: list[Told]) -> None:
    for number in range(len(told)):
        found = refused_at([*told[:number], *told[number + 1 :]])
        assert found is not None, number
        assert number - 1 <= found < len(told)


def test_a_row_that_is_told_twice_is_refused_wherever_it_stands(told: list[Told]) -> None:
    for number, row in enumerate(told):
        for place in range(len(told) + 1):
            found = refused_at([*told[:place], row, *told[place:]])
            assert found is not None, (number, place)
            assert found >= min(number, place)


def test_a_beginning_is_read_wherever_all_series_have_spoken(told: list[Told]) -> None:
    """What a reader holds may be old, but never half of a step."""
    due: set[str] = set()
    named: set[str] = set()
    for length, (event, fact) in enumerate(told, 1):
        if event == SERIES:
            named.add(fact["series"])
        if event == SEALED:
            due = set(named)
        due -= {fact["series"]} if event == RELEASE else set()
        assert (refused_at(told[:length]) is None) == (not due), length
    assert refused_at([]) == 0


def relabelled(event: str, fact: dict[str, Any]) -> Iterator[Told]:
    """The same row with another event, series, step or label."""
    yield from ((other.value, fact) for other in Event if other != event)
    yield "an event of tomorrow", fact
    for key, others in {
        "series": ["edges", "degrees", "late", "unknown"],
        "step": [*range(-1, 5), True],
        "label": ["2000", "2001", "2002", "2003", ""],
        "first_step": range(-1, 5),
    }.items():
        if key in fact:
            yield from ((event, fact | {key: other}) for other in others if other != fact[key])


def test_a_row_with_another_label_is_refused(told: list[Told]) -> None:
    tried = 0
    for number, row in enumerate(told):
        for other in relabelled(*row):
            if other[1].get("step") is True and row[1]["step"] == 1:
                continue  # JSON's true is read as 1, which is then no other label
            found = refused_at([*told[:number], other, *told[number + 1 :]])
            assert found is not None, (number, other[0], other[1].get("step"))
            assert found >= number
            tried += 1
    assert tried > 150


@pytest.mark.parametrize("part", ["raw", "processed", "low", "high"])
def test_a_release_with_another_number_of_values_is_refused(told: list[Told], part: str) -> None:
    for number, (event, fact) in enumerate(told):
        if event == RELEASE:
            for values in (fact[part] * 2, fact[part][1:]):
                changed = event, fact | {part: values}
                assert refused_at([*told[:number], changed, *told[number + 1 :]]) == number


def test_a_file_says_what_the_ledger_says(study: StoredStudy) -> None:
    read = PublicPart.read(study.folder.public)
    assert read == PublicPart.of(study.ledger().public_rows)
    assert read.history.series == study.ledger().series
    assert read.history.versions == study.ledger().versions
    assert read.promise == study.promise()


def test_a_later_series_makes_a_version_of_the_promise(study: StoredStudy) -> None:
    first, second = study.ledger().versions
    assert [each.name for each in second.series] == ["edges", "degrees", "late"]
    assert second.series[:2] == first.series
    assert [each.opened for each in second.series] == [None, None, "2003"]


def test_what_is_spent_and_what_is_left_are_the_budget(study: StoredStudy) -> None:
    part = PublicPart.read(study.folder.public)
    assert part.spent == (Fraction(5, 8), Fraction(0))
    assert _added(part.spent, part.left) == part.total


def _added(
    one: tuple[Fraction, Fraction], other: tuple[Fraction, Fraction]
) -> tuple[Fraction, Fraction]:
    return one[0] + other[0], one[1] + other[1]


share = st.fractions(min_value=Fraction(1, 60), max_value=1, max_denominator=60)
prices = st.lists(st.tuples(share, st.none() | st.integers(1, 5)), min_size=1, max_size=6)


def priced(prices: list[tuple[Fraction, int | None]]) -> Any:
    """A study of ε = 2 and δ = 1e-5, with series of these prices; δ in units of 1e-6."""
    budget = {"epsilon": "2", "delta": "1e-5", "justification": "an example"}
    series = [
        {"name": f"s{number}", "statistic": "nodes", "epsilon": str(epsilon), "horizon": 9}
        | ({} if delta is None else {"delta": f"{delta}e-6"})
        for number, (epsilon, delta) in enumerate(prices)
    ]
    return promise(budget=budget, series=series)


def first_overspent(prices: list[tuple[Fraction, int | None]]) -> int | None:
    for number in range(len(prices)):
        epsilon = sum(price for price, _ in prices[: number + 1])
        if epsilon > 2 or sum(delta or 0 for _, delta in prices[: number + 1]) > 10:
            return number
    return None


def told_of(chain: Chain) -> list[Told]:
    return [(row.event, row.fact) for row in chain.rows]


@given(prices)
def test_the_first_series_beyond_the_budget_is_refused(
    prices: list[tuple[Fraction, int | None]],
) -> None:
    made, over = priced(prices), first_overspent(prices)
    found = refused_at(told_of(opened_chain(made)))
    assert found == (None if over is None else over + 1)  # row 0 opens the study
    assert (min(made.budget_left()) < 0) == (over is not None)


@given(prices.filter(lambda prices: first_overspent(prices) is None))
def test_the_history_and_the_promise_add_up_the_same_prices(
    prices: list[tuple[Fraction, int | None]],
) -> None:
    made = priced(prices)
    spent = history(told_of(opened_chain(made))).spent
    assert _added(spent, made.budget_left()) == made.budget_total()
    deltas = sum(delta or 0 for _, delta in prices)
    assert spent == (sum(price for price, _ in prices), Fraction(deltas, 10**6))


def test_the_whole_budget_may_be_spent_and_nothing_more() -> None:
    exact: list[tuple[Fraction, int | None]] = [(Fraction(2, 3), None)] * 3
    assert refused_at(told_of(opened_chain(priced(exact)))) is None
    assert refused_at(told_of(opened_chain(priced([*exact, (Fraction(1, 10**9), None)])))) == 4


def test_a_later_series_is_paid_from_what_is_left() -> None:
    """Also after steps were published: the sum runs over all that was ever opened."""
    made = priced([(Fraction(1), None)])
    chain = opened_chain(made)
    for name, epsilon in (("t0", "1"), ("t1", "1/1000")):
        data = made.to_data()
        data["series"].append({"name": name, "statistic": "nodes", "epsilon": epsilon})
        chain.add(SERIES, series_fact(promise(**data), name))
    assert refused_at(told_of(chain)) == 3
    assert refused_at(told_of(chain)[:-1]) is None


FRESH = NoiseFact(law="fresh", steps=2, scale="7")


def adopted(step: int, *names: str) -> Told:
    """A copy goes on after so many steps, with fresh noise for two more releases."""
    series = tuple(
        RenewedSeries(series=name, noise=(FRESH,), predicted_std=(9.0, 9.0), again=Fraction(1))
        for name in names
    )
    fact = StudyAdopted(
        step=step, label=None, reason="moved", series=series, software="graphveil 9", noise="OpenDP"
    )
    return Event.STUDY_ADOPTED.value, fact.to_data()


def test_an_adoption_stands_between_steps_and_names_every_series(told: list[Told]) -> None:
    whole = [number for number, (event, _) in enumerate(told) if event == SEALED]
    for number in range(1, len(told) + 1):
        names = [fact["series"] for event, fact in told[:number] if event == SERIES]
        steps = sum(place < number for place in whole)
        before = told[:number]
        complete = refused_at(before) is None
        refused = [
            refused_at([*before, adopted(step, *names)]) is not None for step in range(steps + 2)
        ]
        assert refused == [step != steps or not complete for step in range(steps + 2)]
        for others in ([*names, "more"], names[:-1], names[::-1]):
            if complete and others != names:
                assert refused_at([*before, adopted(steps, *others)]) == number


def test_from_an_adoption_on_the_noise_is_what_it_says(told: list[Told]) -> None:
    """What was made stays, and nothing is told any more of what had been planned."""
    before = {each.series: each for each in history(told).series}
    after = history([*told, adopted(3, *before)])
    assert [each.reason for each in after.adoptions] == ["moved"]
    assert "graphveil 9, noise by OpenDP" in after.software
    for each in after.series:
        made = before[each.series].releases
        (planned,) = before[each.series].noise
        assert each.releases == made
        assert each.noise == (planned.model_copy(update={"steps": len(made)}), FRESH)
        assert each.predicted_std == (*(release.noise_std for release in made), 9.0, 9.0)
    again = history([*told, adopted(3, *before), adopted(3, *before)])
    assert again.series == after.series
    assert len(again.adoptions) == 2


@pytest.mark.parametrize(
    ("made", "left"), [(0, []), (1, [1]), (2, [2]), (3, [2, 1]), (5, [2, 3]), (6, [2, 3, 1])]
)
def test_of_several_laws_those_of_the_releases_are_left(
    told: list[Told], made: int, left: list[int]
) -> None:
    laws = [{"law": "discrete Laplace", "steps": steps, "scale": "2"} for steps in (2, 3, 4)]
    sealed = next(fact for event, fact in told if event == SEALED)
    release = next(fact for event, fact in told if event == RELEASE)
    number = next(n for n, (event, _) in enumerate(told) if event == SERIES)
    chain = [*told[:number], (SERIES, told[number][1] | {"noise": laws})]
    for step in range(made):
        here = {"step": step, "label": str(2000 + step)}
        chain += [(SEALED, sealed | here), (RELEASE, release | here)]
    (series,) = history([*chain, adopted(made, release["series"])]).series
    assert [each.steps for each in series.noise] == [*left, FRESH.steps]


def by_hand() -> list[Told]:
    """A study of two series and two steps, made up."""
    return told_of(published(priced([(Fraction(1), None), (Fraction(1, 2), None)]), 2))


OPENED, FIRST, SECOND, STEP_0, SAID_0, ALSO_0, STEP_1, SAID_1, ALSO_1 = range(9)


@pytest.mark.parametrize(
    ("rows", "refused"),
    [
        ([OPENED, FIRST, SECOND, STEP_0, SAID_0, ALSO_0, STEP_1, SAID_1, ALSO_1], None),
        ([OPENED, FIRST, SECOND, STEP_0, ALSO_0, SAID_0], None),
        ([OPENED, FIRST, FIRST], 2),  # opened twice
        ([OPENED, FIRST, STEP_0, SAID_0, SECOND], 4),  # begins with a step that is past
        ([OPENED, FIRST, STEP_0, SECOND], 3),  # while another is due
        ([OPENED, FIRST, SECOND, STEP_1], 3),  # a step is left out
        ([OPENED, STEP_1], 1),
        ([OPENED, FIRST, SECOND, STEP_0, SAID_0, STEP_1], 5),  # one is still due
        ([OPENED, FIRST, SECOND, STEP_0, SAID_0, STEP_1, SAID_1, ALSO_1], 5),
        ([OPENED, FIRST, STEP_0, ALSO_0], 3),  # of a series that was not opened
        ([OPENED, FIRST, SECOND, STEP_0, SAID_0, SAID_0], 5),  # twice
        ([OPENED, FIRST, SECOND, STEP_0, SAID_1], 4),  # of another step
        ([OPENED, FIRST, SECOND, STEP_0, SAID_0], 4),  # one never speaks
        ([FIRST], 0),
    ],
)
def test_rows_stand_where_they_can(rows: list[int], refused: int | None) -> None:
    told = by_hand()
    assert refused_at([told[number] for number in rows]) == refused


def test_a_row_by_hand_with_something_else_in_it_is_refused() -> None:
    told = by_hand()
    label = RELEASE, told[SAID_0][1] | {"label": "another"}
    assert refused_at([*told[:SAID_0], label, *told[ALSO_0:]]) == SAID_0
    unknown = "an event of tomorrow", told[SAID_0][1]
    assert refused_at([*told, unknown]) == len(told)
    no_promise = told[OPENED][0], told[OPENED][1] | {"study": {}}
    with pytest.raises(IntegrityError):
        history([no_promise])
    names = [told[FIRST][1]["series"], told[SECOND][1]["series"]]
    assert refused_at([*told, adopted(2, *names)]) is None
    for wrong in (adopted(1, *names), adopted(3, *names), adopted(2, names[0]), adopted(2)):
        assert refused_at([*told, wrong]) == len(told)
    assert refused_at([*told[: SAID_0 + 1], adopted(1, *names)]) == SAID_0 + 1


def test_what_is_read_later_is_added_to_what_was_read() -> None:
    told = [*by_hand(), adopted(2, "s0", "s1")]
    rows = [row.announcement("the chain") for row in rechained(told)]
    whole = History.of(rows, "the chain")
    assert [each.reason for each in whole.adoptions] == ["moved"]
    assert whole.software[-1] == "graphveil 9, noise by OpenDP"
    for cut in (SECOND + 1, ALSO_0 + 1, ALSO_1 + 1):
        assert History.of(rows[:cut], "the chain").followed_by(rows[cut:]) == whole
    added = []
    for name in ("late", "later"):
        fact = told[SECOND][1] | {"series": name, "first_step": 2}
        promised = fact["promise"] | {"name": name, "opened": "2007", "epsilon": "1/4"}
        added.append((SERIES, fact | {"promise": promised, "epsilon": "1/4"}))
    versions = history([*told, *added]).versions
    assert [[each.name for each in version.series] for version in versions] == [
        ["s0", "s1"],
        ["s0", "s1", "late"],
        ["s0", "s1", "late", "later"],
    ]


def test_a_study_of_nothing_is_refused() -> None:
    with pytest.raises(IntegrityError, match="row 0"):
        History.of([], "the chain")


def test_a_ledger_that_grows_says_what_it_would_say_if_it_were_read_anew(
    study: StoredStudy,
) -> None:
    whole = study.ledger()
    ends = [
        number
        for number, row in enumerate(whole.rows[1:], start=1)
        if row.event != RELEASE and whole.rows[number - 1].event in (RELEASE, Event.RECORDS_ADDED)
    ]
    assert len(ends) == 3
    for end in ends:
        before = Ledger(whole.rows[:end])
        assert before.followed_by(()) is before
        grown = before.followed_by(whole.rows[end:])
        assert grown == whole
        assert grown.before is before
        assert (grown.history, grown.versions) == (whole.history, whole.versions)
        assert grown.public_lines == whole.public_lines
        assert grown.public_text == whole.public_text


def test_what_follows_is_refused_as_if_it_were_read_anew(study: StoredStudy) -> None:
    rows = study.ledger().rows
    place = max(number for number, row in enumerate(rows) if row.event == SEALED)
    before = Ledger(rows[:place])
    for later in (rows[place:-1], rows[place + 1 :], (*rows[place:], rows[-1])):
        with pytest.raises(IntegrityError) as anew:
            _ = Ledger((*before.rows, *later)).history
        with pytest.raises(IntegrityError, match=re.escape(str(anew.value))):
            _ = before.followed_by(later).history
