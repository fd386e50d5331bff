"""A study that promises nothing, on one network: ``python benchmarks/no_bound.py FOLDER``.

Four series share ε = 1 over the network's years, as `graphveil new` would publish them without a
bound, beside the paper's SensDiff and a promise about hubs, both with parameters read off the data.
Writes benchmarks/NO_BOUND.md.
"""

from __future__ import annotations

import argparse
from fractions import Fraction
from pathlib import Path

from graphveil.backends import LocalEngine
from graphveil.lab.datasets import dataset
from graphveil.lab.experiments.comparison import (
    AUTO,
    FOLLOWING,
    HUBS,
    POST,
    SENSDIFF,
    SHAPED,
    Outcome,
    outcomes,
)
from graphveil.lab.experiments.subjects import (
    DatasetVersion,
    RequestedStatistic,
    Subject,
    true_values,
)
from graphveil.lab.experiments.trial import Trial

HERE = Path(__file__).resolve().parent
EPSILON, RUNS = Fraction(1), 200
# What is asked for, in words, and the candidate that needs no promise.
SERIES = {
    "nodes": ("people", AUTO),
    "edges": ("links", FOLLOWING),
    "clusters": ("clusters of 2 or more", SHAPED),
    "high-degree": ("people with τ links or more", SHAPED),
}
INTRO = """# A study that promises nothing

Written by `python benchmarks/no_bound.py PATH/{name}`: {people:,} people and
{links:,} links in {steps} releases, ε = 1 for four series together, a quarter each, {runs} runs.
Mean absolute error, and relative error Σ|A − f|/f summed over the releases, both after
post-processing. SensDiff is promised the largest degree ({bound}), hubs are promised as many as the
network has ({hubs}); both are read off the data, which nobody may do. *Without* promises nothing:
people by the planner's choice, links at a threshold that follows, clusters by forests with 2 links,
people with τ = {tau} links or more on a projection to τ.

| series | last value | SensDiff | hubs | without | SensDiff, relative | hubs | without |
|---|--:|--:|--:|--:|--:|--:|--:|
"""


def main() -> None:
    """Simulate all four, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("network", help="a folder with nodes and edges, or a model's name")
    loaded = dataset(parser.parse_args().network, seed=0)
    version = DatasetVersion.of(loaded, directed=False)
    subjects = [version.subject(RequestedStatistic(name)) for name in SERIES]
    truths = true_values(version, subjects, LocalEngine())
    rows: list[str] = []
    share = EPSILON / len(SERIES)
    for subject, truth in zip(subjects, truths, strict=True):
        trial = Trial(subject, truth, share, RUNS, (26, len(rows)))
        by_name = {each.mechanism: each for each in outcomes(trial)}
        rows.append(_row(subject, int(truth.totals[-1]), by_name))
    hubs = next(bound.brief for bound, _ in truths[1].first_links if _by_rule(subjects[1], bound))
    intro = INTRO.format(
        name=loaded.name, people=version.sequence.nodes, links=version.sequence.edges,
        steps=version.sequence.steps, runs=RUNS, bound=version.bound.brief, hubs=hubs,
        tau=subjects[-1].tau,
    )  # fmt: skip
    text = intro + "".join(rows)
    (HERE / "NO_BOUND.md").write_text(text, encoding="utf-8")
    print(text)


def _by_rule(subject: Subject, bound: object) -> bool:
    return getattr(bound, "counted", None) == subject.hub_threshold


def _row(subject: Subject, last: int, found: dict[str, Outcome]) -> str:
    words, own = SERIES[subject.asked]
    names = [name + POST for name in ("sensdiff-tight", HUBS, own)]
    assert found[SENSDIFF].error == found["sensdiff-tight"].error, "our Γ is the paper's here"
    both = [found.get(name) for name in names]
    absolute = [f"{each.absolute_error:,.1f}" if each else "–" for each in both]
    relative = [f"{each.error:,.2f}" if each else "–" for each in both]
    return f"| {' | '.join([words, f'{last:,}', *absolute, *relative])} |\n"


if __name__ == "__main__":
    main()
