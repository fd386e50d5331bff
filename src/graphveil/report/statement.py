"""The privacy statement: what is promised to a person, what is not, and who is trusted with what.

The page prints these sentences and the card carries them, so that both say the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from graphveil.graph.promises import HubBound, NoBound
from graphveil.mechanisms.factorisations.objectives import DEFAULT, objective
from graphveil.noise.exact_numbers import as_text
from graphveil.report.wording import (
    Exposure,
    budget,
    counted_things,
    exposures,
    factor,
    price,
    rounded_up,
)

if TYPE_CHECKING:
    from graphveil.graph.promises import Bound
    from graphveil.study.facts import StudyAdopted, StudyExtended
    from graphveil.study.history import PublishedSeries
    from graphveil.study.public_part import PublicPart

WEAK = 5  # an even guess can then become 99% sure

NEIGHBOURS = (
    "Two records of the whole history are neighbours if one of them contains one additional "
    "person, with all links of that person at all steps; everything else is the same and appears "
    "at the same step in both."
)
_FORMALLY = (
    "Growing graphs G and G' are neighbours if G' has one more node v* and edges at v*{bound}. "
    "The guarantee is about the joint distribution of all releases of all series at "
    "all steps (node differential privacy under continual release)."
)
_SAME = "all other nodes and edges appear in both at the same step"
SETTING = {
    "model": (
        "central: the publisher holds the exact records and adds the noise before anything is "
        "published"
    ),
    "releases": "many: one release of every series at every step of the calendar",
    "data": "dynamic: the network grows from step to step, and nothing is ever removed",
    "access": (
        "non-interactive: the publisher fixes what is counted before it is counted, everybody "
        "gets the same answers, and nobody can query the records"
    ),
}
COMPOSITION = {
    "over_statistics": (
        "The ε (and δ) of all series add up, in exact fractions; the sum never exceeds the total "
        "budget, and a series that would exceed it cannot be opened."
    ),
    "over_time": (
        "The ε of a series covers all its releases together, not each one. Publishing another "
        "step costs nothing more."
    ),
    "within_a_release": (
        "Where a release has several numbers, one per degree or per group of people, the ε covers "
        "all of these numbers together."
    ),
    "beyond_this_study": (
        "Other publications about the same people are not counted here; their ε adds to this one."
    ),
}
DIVIDED = (
    "Labels are stated by a person's own records, once, and are protected like everything else "
    "about that person. What one person changes in all cells together is what the noise is made "
    "for, so that the ε covers the whole table, and small cells need no suppression."
)
_POOLED = (
    "The series {names} share a pool: their Gaussian noise is priced together. What each of them "
    "costs is stated as a share of ρ (zero-concentrated differential privacy), these add up, and "
    "the sum is converted once into the ε = {epsilon} and δ = {delta} of the pool. Pool and other "
    "series add up to the total."
)
PRODUCT = {
    "kind": "summary statistics: counts of a growing network of people, release after release",
    "intended_use": (
        "For everybody: estimates to read and to plot, raw values to compute with. Numbers "
        "are about the population as a whole; nothing here is for decisions about one person."
    ),
}
IMPLEMENTATION = {
    "before_counting": (
        "Nothing is tuned on the records: statistics, bound, mechanisms and shares are fixed from "
        "public facts before they are used. Records are read by rules that study.toml states, in "
        "such a way that the records of one person change nothing about how those of others are "
        "read."
    ),
    "randomness": (
        "Noise is drawn from the operating system's random generator; there is no seed. The noise "
        "of a step is drawn once and committed before it is published."
    ),
    "floating_point": (
        "Counts, noise and raw values are whole numbers, and the noise follows an exact discrete "
        "law. Where noise of several steps is combined, this is done in exact fractions and "
        "rounded once. Floating point occurs only in processed values and in error figures, "
        "after the noise."
    ),
    "timing": (
        "Releases are made offline, so nobody outside can measure how long counting or drawing "
        "took. The ledger states when publishing began, to the second, not when it "
        "ended."
    ),
    "security": (
        "Exact records, counts and noise stay with the publisher, in files that only their owner "
        "may open or in the publisher's own database, and never come into a public file. How "
        "well these are guarded is not for software alone to say."
    ),
    "failures": (
        "A step is committed before it is published, and the committed numbers are published "
        "however often they are requested. A refused step is not published, and neither is the "
        "fact that it was refused."
    ),
}
POST_PROCESSING = (
    "Processed values are computed from the raw values of the same series and public facts alone "
    "(a count is not negative; some counts never decrease), so they cost no privacy. They may be "
    "biased; raw values are not, and are always published beside them."
)
REVISIONS = (
    "after each release the whole history of all series is estimated again, together, from all raw "
    "values, the known noise and what is true of every network, at no cost in privacy: revised.csv "
    "has each first value, which never changes, beside its newest revision"
)


def composition(part: PublicPart) -> dict[str, str]:
    """How losses add up."""
    pool = part.promise.budget.pool
    if pool is None:
        return dict(COMPOSITION)
    names = ", ".join(each.series for each in part.series if each.pool_share is not None)
    sentence = _POOLED.format(names=names or "to come", epsilon=pool.epsilon, delta=pool.delta)
    if left := part.promise.pool_left():
        sentence += f" A share of {as_text(left)} of the pool is left for later series."
    return COMPOSITION | {"over_statistics": f"{COMPOSITION['over_statistics']} {sentence}"}


def has_revisions(part: PublicPart) -> bool:
    """Whether there is a series of which revised histories are published."""
    return any(each.plan is not None and each.releases for each in part.series)


def variant(part: PublicPart) -> str:
    """The kind of guarantee."""
    kind = "(ε, δ)-" if part.total[1] else "pure ε-"
    return f"{kind}differential privacy for nodes (people), under continual release"


def promise(part: PublicPart) -> str:
    """The guarantee as one sentence for everybody; says so where it is weak."""
    sentence = (
        "Anyone who reads this, now or in any later year, and whatever else they know, learns "
        "only a limited amount about whether any one person is in the records, and about their "
        "links. The limit is stated below."
    )
    if part.total[0] > WEAK:
        sentence += " With an ε this large, that can be a lot: read the limits below with care."
    return sentence


def meaning(part: PublicPart) -> str:
    """What the whole budget promises, as a sentence with a number in it."""
    epsilon, delta = part.total
    times = factor(epsilon)
    sentence = (
        "Take everything that this study will ever publish, and any one person. It is at most "
        f"{times} as likely to come out this way with that person in the records as without, and "
        f"at most {times} as likely without as with. This factor is e^ε."
    )
    if delta:
        sentence += f" This may fail with a probability of at most δ = {as_text(delta)}."
    return sentence


def neighbours_formally(part: PublicPart) -> str:
    """The neighbour definition, and which pairs the stated limit is about."""
    bound = part.promise.degree_bound
    if bound.checked:
        condition = f", {_SAME}, and both keep the promised degree bound at every step"
    elif isinstance(bound, HubBound):
        condition = f", and {_SAME}. The stated limit holds for all neighbours in which v* has "
        condition += f"{bound.of_one_person} in G', whatever else G and G' are like"
    else:
        condition = f", and {_SAME}; nothing is assumed about their degrees"
    return _FORMALLY.format(bound=condition)


def assumption(part: PublicPart) -> str:
    """On what the guarantee rests."""
    bound = part.promise.degree_bound
    cut = [each.series for each in part.series if each.projection is not None]
    if isinstance(bound, HubBound) and not bound.checked:
        rest = _goes_on(bound, exposures(part))
    else:
        rest = _rests(bound)
    if isinstance(bound, HubBound):
        rest += f" {bound.uncounted.capitalize()} are not counted."
    if cut and not isinstance(bound, NoBound):
        rest += f" Only the series {', '.join(cut)} do not need this promise."
    return rest


def _rests(bound: Bound) -> str:
    if isinstance(bound, NoBound):
        return (
            "The guarantee rests on no promise about links: it holds for every network, however "
            "many links people have. Where links of a person beyond a threshold are left out of a "
            "count, that series says so."
        )
    return (
        f"The guarantee rests on the public promise that everybody has {bound.in_words}, at every "
        "step. Before each step the records are checked, and if anybody had more, the step would "
        "not be published; what readers could infer from such a gap is not covered."
    )


def _goes_on(bound: HubBound, exposed: Sequence[Exposure]) -> str:
    worst = "".join(
        f", with {each.further:,} more up to {rounded_up(each.times)} times as much"
        for each in exposed[-1:]
    )
    return (
        f"The publisher promises that everybody has {bound.in_words}, at every step. If that is "
        "not so, nothing stops and nothing shows: the limit above holds for everybody who has "
        f"{bound.of_one_person}, whatever others do, and a person linked to more such people "
        f"loses more{worst}."
    )


def not_protected(part: PublicPart) -> tuple[tuple[str, str], ...]:
    """Every quantity that is published exactly, with its value."""
    promised = part.promise
    found = [
        _promised_bound(promised.degree_bound),
        ("calendar of steps", promised.calendar.describe()),
        ("choice of statistics", "; ".join(_choice(part))),
        (
            "parameters of statistics, such as τ",
            "; ".join(_parameters(part)) or "none",
        ),
        ("mechanisms, horizons and shares of the budget", "; ".join(_shares(part))),
        ("times of publication", "the time in every row of the public ledger, to the second"),
        ("the study itself", "title, population, publisher and rules for records, as published"),
    ]
    if promised.ratios:
        formulas = (
            f"{each.name} = {each.formula}" + (f" (since {each.opened})" if each.opened else "")
            for each in promised.ratios
        )
        found.append(("choice of ratios", "; ".join(formulas)))
    sizes = [f"{each.series}: {size:,}" for each in part.series if (size := each.promise.expected)]
    guessed = [("expected sizes, guessed without the records", "; ".join(sizes))] if sizes else []
    lists = [f"{each.name}: {', '.join(each.cells)}" for each in promised.groups.members]
    grouped = [("lists of groups, not who is in them", "; ".join(lists))] if lists else []
    return (*found, *grouped, *guessed)


def _promised_bound(bound: Bound) -> tuple[str, str]:
    if isinstance(bound, NoBound):
        return "degree bound", "none"
    if isinstance(bound, HubBound) and any(bound.hubs):
        return "bound on hubs", f"everybody has {bound.in_words}"
    return "degree bound", f"{bound.in_words} per person"


def _choice(part: PublicPart) -> list[str]:
    return [f"{each.series}: {counted_things(each)}" for each in part.series]


def _parameters(part: PublicPart) -> list[str]:
    lines = []
    for each in part.series:
        given = {**each.parameters}
        if each.projection is not None:
            given["projection"] = str(each.projection)
        lines += [f"{each.series}: {name} = {value}" for name, value in given.items()]
    return lines


def _shares(part: PublicPart) -> list[str]:
    return [
        f"{each.series}: {each.mechanism}, {price(each)}, "
        + (f"{each.horizon} releases" if each.horizon else "no fixed number of releases")
        for each in part.series
    ]


def adoptions(part: PublicPart) -> tuple[str, ...]:
    """Where the study went on from a copy of itself, why, and what that could mean."""
    delta = part.spent[1]
    return tuple(
        f"{f'After {each.label}' if each.label else 'Before its first step'}, this study went on "
        "from a copy of its records, with fresh noise for everything since. The publisher's "
        f"reason: {each.reason} {_price(each)}The guarantee stays as it is; if another copy had "
        f"gone on as well, everybody could lose up to {budget(each.again, delta)} more by what it "
        "published."
        for each in part.history.adoptions
    )


def _price(adopted: StudyAdopted) -> str:
    if not adopted.price:
        return ""
    return f"The fresh noise has cost {budget(adopted.price, None)} of the total budget. "


def extensions(part: PublicPart) -> tuple[str, ...]:
    """When the study was extended, and what that has cost."""
    return tuple(_extension(at[:10], each) for at, each in part.history.extensions)


def _extension(day: str, extended: StudyExtended) -> str:
    paid = [
        f"ε = {as_text(each.price)} for {each.series}" for each in extended.series if each.price
    ]
    cost = (
        f"Its further releases cost {', '.join(paid)}, out of what was left of the total budget, "
        "which stays as it was."
        if paid
        else "That has cost nothing more: the ε of every series covers its further releases, too."
    )
    return f"Extended on {day} from {extended.end} to {extended.last}. {cost}"


def limits() -> tuple[str, ...]:
    """What the guarantee does not say."""
    return (
        (
            "It does not hide what is true of the population as a whole: if people like you are at "
            "risk, a reader learns this whether or not you are in the records."
        ),
        (
            "It protects individuals. A group, such as a household of four, is protected less: "
            "for the four together, ε is four times as large."
        ),
        "It covers this study only. Other publications about the same people add to the ε.",
        (
            "It says nothing about people whom nobody recorded: whom the records miss, the numbers "
            "miss as well."
        ),
    )


def aim(series: PublishedSeries) -> str | None:
    """Which error the noise was chosen to keep small; None where it is the usual one, or unsaid."""
    stated = series.promise.minimise
    if stated is None or stated == str(DEFAULT):
        return None
    return f"{stated}: {objective(stated).summary}"


def trust(part: PublicPart) -> tuple[tuple[str, str], ...]:
    """Who is trusted with what."""
    promised = (
        "to promise a bound that is not derived from the data, " if part.promise.bound else ""
    )
    return (
        (
            part.promise.publisher,
            (
                "holds the exact records, the exact counts and the noise; is trusted to keep "
                f"them secret, to enter every person once, {promised}"
                "and to publish nothing else about these people"
            ),
        ),
        (
            "the software and the computer it runs on",
            (
                f"{'; '.join(part.software)}; trusted to count, to draw noise and to keep the "
                "ledger as described"
            ),
        ),
        ("readers of this publication", "are not trusted, alone or together"),
    )
