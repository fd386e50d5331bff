"""A study as one object: made from plain values, fed with frames, read as frames and charts.

It holds nothing but where the study is. Everything is done by the functions of `steward`, which
the commands call as well; so a study may be used from Python and from a shell in turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from graphveil.errors import ParameterError, StudyError
from graphveil.report.estimates import with_estimates
from graphveil.steward import frames, inputs, publishing, reporting
from graphveil.steward.custody import Adoption, adoption, hand_over
from graphveil.steward.reporting import Report, published, report
from graphveil.steward.requests import StudyRequest
from graphveil.steward.status import Status, status

if TYPE_CHECKING:
    from graphveil.calendar.calendar import Calendar
    from graphveil.drawing.svg import Drawing
    from graphveil.graph.promises import BoundLike
    from graphveil.mechanisms.planning.plan import Plan
    from graphveil.noise.exact_numbers import Exact
    from graphveil.records import ReadingOptions
    from graphveil.steward.adding import Addition
    from graphveil.steward.inputs import SeriesGiven
    from graphveil.steward.publishing import Publication
    from graphveil.steward.series import Opening, StudyGoingOn
    from graphveil.steward.verifying import Verification
    from graphveil.study.history import PublishedSeries
    from graphveil.study.promise import Promise
    from graphveil.study.promise_entries import RatioPromise


@dataclass(frozen=True)
class Study:
    """One population, one budget, many series, in one folder; see `Study.create`.

    Shown in a notebook, it tells what the public may know and nothing else.

    Attributes:
        folder: where it is; or its public part alone, of which the published numbers can be read.

    Examples:
        >>> study = Study.create(
        ...     "county",
        ...     title="An example",
        ...     population="made-up people",
        ...     publisher="nobody",
        ...     first=2021,
        ...     last=2024,
        ...     bound=15,
        ...     bound_reason="nobody made up more",
        ...     epsilon=1,
        ...     epsilon_reason="an example",
        ...     series={"edges": {}, "hubs": {"statistic": "high-degree", "tau": 3}},
        ... )
        >>> added = study.add(
        ...     pl.DataFrame({"person": ["ann", "bob"], "seen": [2021, 2022]}),
        ...     pl.DataFrame({"one": ["ann"], "other": ["bob"]}),
        ...     id="person",
        ...     time="seen",
        ...     source="one",
        ...     target="other",
        ... )
        >>> study.publish(through="2022").labels
        ('2021', '2022')
        >>> study.frame("edges").select("series", "label").rows()
        [('edges', '2021'), ('edges', '2022')]
    """

    folder: Path

    @classmethod
    def create(
        cls,
        folder: str | Path,
        *,
        title: str,
        population: str,
        publisher: str,
        bound: BoundLike | None = None,
        epsilon: Exact,
        epsilon_reason: str,
        series: SeriesGiven,
        bound_reason: str | None = None,
        calendar: Calendar | None = None,
        every: str | int = "year",
        first: object = None,
        last: object = None,
        steps: int | None = None,
        hubs: int | Sequence[int] | None = None,
        if_broken: Literal["continue", "refuse"] = "continue",
        directed: bool = False,
        delta: Exact | None = None,
        pool: Exact | None = None,
        minimise: str | None = None,
        confidence: Exact = "0.95",
        person_separator: str = "",
        fold_case: bool = False,
        undated: Literal["refuse", "first"] = "refuse",
        ratios: Mapping[str, str] | None = None,
        groups: inputs.GroupsGiven = (),
        even_too_noisy: bool = False,
        database: str | None = None,
    ) -> Study:
        """A new study, which is a draft until records are added; nothing is spent yet.

        Everything that is given here is public, and must be chosen without looking at the data.

        Args:
            folder: a folder that holds no study yet.
            title: of the public report.
            population: whose network it is, in public words.
            publisher: who is responsible for it.
            bound: how many links a person has at most; two numbers in a directed network, for
                links to and from a person; or a bound such as `HubBound`. None promises nothing,
                so that every series has to do without.
            epsilon: what all series may cost together, permanently.
            epsilon_reason: why this much.
            series: what is published: a list of statistics, as the commands take them
                ("high-degree:tau=3@1/4=hubs"), or by name of the series its `statistic`
                (else its name says it), the parameters of that, `epsilon`, `delta`, `mechanism`,
                `horizon`, `projection`, `minimise`, `justification` and `expected`, a guess of its
                size. Those without an ε share what is left.
            bound_reason: why the public may believe the bound.
            calendar: the public steps; or else the next four say them.
            every: "year", "quarter", "month", "week", "day", or a number of units.
            first: where the first step begins, such as 2021 or "2021-01".
            last: the last step; leave it and `steps` out if it is unknown.
            steps: how many steps there will be, instead of `last`.
            hubs: to how many people beyond the bound a person may be linked.
            if_broken: whether the study goes on where somebody breaks the promise.
            directed: whether links have a direction.
            delta: the probability of a loss above ε, if there may be one.
            pool: the part of ε that series with a `pool` share have together; without it, series
                that name no share have a pool if that pays.
            minimise: which error is to be small, such as "mean" or "last".
            confidence: the level of published intervals.
            person_separator: what ends the person in an id; "" if an id is a person.
            fold_case: whether Ann and ann are one person.
            undated: what becomes of nodes without a time.
            ratios: ratios of series to publish as well, by name, such as
                {"links per person": "2*links/people"}; they cost nothing.
            groups: public lists of labels that people have, by name, for series with `by`; of a
                number, where its labels begin: ``{"region": ["North", "South"], "age": [0, 50]}``.
            even_too_noisy: begin also series that are too noisy for the size that is `expected`.
            database: the URL of a PostgreSQL database; without one, SQLite in the folder.

        Examples:
            >>> clinic = Study.create(
            ...     "clinic",
            ...     title="A clinic",
            ...     population="its patients",
            ...     publisher="the clinic",
            ...     every="quarter",
            ...     first="2024-01",
            ...     steps=8,
            ...     bound=10,
            ...     bound_reason="the interview asks for ten",
            ...     epsilon="1/2",
            ...     epsilon_reason="the ethics board, 2023",
            ...     series=["nodes", "edges"],
            ... )
            >>> clinic.promise.calendar.labels(3)
            ['2024-01', '2024-04', '2024-07']
        """
        from graphveil.steward import drafting

        request = StudyRequest(
            title=title,
            population=population,
            publisher=publisher,
            calendar=inputs.calendar_of(calendar, every, first, last, steps),
            epsilon=inputs.exact_text("epsilon", epsilon),
            epsilon_reason=epsilon_reason,
            series=inputs.series_of(series),
            **inputs.promised(bound, bound_reason, hubs, if_broken, directed),
            delta=None if delta is None else inputs.exact_text("delta", delta),
            pool=None if pool is None else inputs.exact_text("pool", pool),
            minimise=minimise,
            confidence=inputs.exact_text("confidence", confidence),
            person_separator=person_separator,
            fold_case=fold_case,
            undated=undated,
            ratios=tuple(f"{name} = {formula}" for name, formula in (ratios or {}).items()),
            groups=inputs.groups_of(groups),
        )
        drafting.create(Path(folder), request, database=database, even_too_noisy=even_too_noisy)
        return cls(Path(folder))

    @classmethod
    def from_file(
        cls,
        folder: str | Path,
        study_file: str | Path,
        *,
        even_too_noisy: bool = False,
        database: str | None = None,
    ) -> Study:
        """A new study that promises what a study file says, such as another's `study.toml`.

        Args:
            folder: a folder that holds no study yet.
            study_file: the file.
            even_too_noisy: as in `create`.
            database: as in `create`.

        Examples:
            >>> Study.from_file("next-county", "county/public/study.toml").promise.title
            'An example'
        """
        from graphveil.steward import drafting

        drafted = drafting.from_study_file(Path(study_file))
        drafting.begin(Path(folder), drafted, database=database, even_too_noisy=even_too_noisy)
        return cls(Path(folder))

    @classmethod
    def open(cls, folder: str | Path) -> Study:
        """The study in a folder, or the public part of one by itself.

        Examples:
            >>> Study.open("nowhere")
            Traceback (most recent call last):
                ...
            graphveil.errors.StudyError: there is no study in 'nowhere', and it is not a public ...
        """
        reporting.find(Path(folder))
        return cls(Path(folder))

    @property
    def promise(self) -> Promise:
        """What the study says of itself; public.

        Examples:
            >>> study.promise.publisher
            'nobody'
        """
        return frames.Public.of(self.folder).promise

    def plans(self) -> dict[str, Plan]:
        """How each series is published, with the errors that it will have; reads no records.

        Examples:
            >>> {name: len(plan.predicted) for name, plan in study.plans().items()}
            {'edges': 4, 'hubs': 4}
        """
        from graphveil.steward.outlook import study_outlook

        return {each.series.name: each.plan for each in study_outlook(self.folder).series}

    def add(
        self,
        *data: Any,
        id: str | None = None,  # noqa: A002
        source: str | None = None,
        target: str | None = None,
        time: str | None = None,
        edge_time: str | None = None,
        groups: Mapping[str, str] = MappingProxyType({}),
        format: str | None = None,  # noqa: A002
        options: ReadingOptions | None = None,
        complete: bool = False,
        strict: bool = False,
        yes: bool = False,
        ignore_after_end: bool = False,
        undated: Literal["refuse", "first", "drop"] | None = None,
        change_reading: bool = False,
        dry_run: bool = False,
    ) -> Addition:
        """Add records; they are published with their step, or the next one. The first open it.

        Args:
            data: one or more files; or a table of nodes, a table of edges, or both in this order
                (polars, pandas or Arrow); or a graph of NetworkX or igraph; or `Records`.
            id: the column of nodes that says who; "node" if it is not given.
            source: the column of edges that says from whom; "source" if it is not given.
            target: the column of edges that says to whom; "target" if it is not given.
            time: the column, field or attribute with a node's time.
            edge_time: the same of an edge; if it is not given, the one of nodes, where it is there.
            groups: which column or attribute has people's labels in each group of the study.
            format: of all files; None recognises each by its content.
            options: what else files do not say themselves.
            complete: whether this is everything, so that what has vanished is reported.
            strict: refuse all at the first row that breaks a rule; else such rows are set aside,
                and listed beside the batch.
            yes: add the rest although more than a tenth is set aside, or nothing is left.
            ignore_after_end: leave out records dated after the last step, and count them.
            undated: what becomes of people without a date; None leaves it to the study's rule.
            change_reading: read files otherwise than those before.
            dry_run: only read and check; change nothing.

        Returns:
            What there is to know about the records, which is private: `print` shows it.

        Examples:
            >>> graph = nx.Graph()
            >>> graph.add_node("cem", seen=2023)
            >>> study.add(graph, time="seen")
            <Records stored as batch 2. What was found is private: print it to see it.>
        """
        from graphveil.steward import adding
        from graphveil.study.backends import AddOptions

        names = inputs.Names(id, source, target, time, edge_time, groups)
        how = AddOptions(complete, strict, yes, ignore_after_end, undated, dry_run)
        recognised = inputs.recognised(data, names)
        if not isinstance(recognised, inputs.Files):
            inputs.require_for_files(format=format, options=options)
            return adding.add_records(
                self.folder,
                recognised.records,
                directed=recognised.directed,
                how=how,
            )
        return adding.add(
            self.folder,
            recognised.paths,
            format=format,
            options=recognised.options(options, undated),
            how=how,
            change_reading=change_reading,
        )

    def withdraw(self, batch: int) -> None:
        """Withdraw the batch of this number: the latest, unless a step was sealed since it came.

        Examples:
            >>> study.withdraw(2)
        """
        from graphveil.steward import adding

        adding.withdraw(self.folder, batch)

    def abandon(self) -> int:
        """Give up the records whose addition was refused, so that steps can be published again.

        Examples:
            >>> study.abandon()
            0
        """
        from graphveil.steward import adding

        return adding.abandon(self.folder)

    def publish(
        self,
        through: str | int | None = None,
        *,
        everything: bool = False,
        early: bool = False,
        report: bool = True,
    ) -> Publication:
        """Seal the next step, or all up to one of this name, and tell the public.

        Args:
            through: the name of the last step to seal, such as "2024" or "2024-03".
            everything: seal every step that has ended by the clock.
            early: seal also what has not ended yet.
            report: bring page, charts, card and table up to date, too.

        Examples:
            >>> study.publish(through="2023")
            <Published: 2023; 2 numbers>
        """
        last = None if through is None else str(through)
        asked = publishing.PublishRequest(
            through=last, everything=everything, early=early, report=report
        )
        return publishing.publish(self.folder, asked)

    def open_series(
        self,
        name: str,
        *,
        epsilon: Exact,
        even_too_noisy: bool = False,
        dry_run: bool = False,
        **given: Any,
    ) -> Opening:
        """Open one more series from the next step on, paid for out of what is left.

        Args:
            name: of the series; also of its statistic, unless `statistic` says that.
            epsilon: what it may cost, for all its releases.
            even_too_noisy: open it although it is too noisy for the size that is `expected`.
            dry_run: only say what it would be like.
            given: the rest, as in `create`.

        Examples:
            >>> study.open_series("triangles", epsilon="1/2", dry_run=True)
            Traceback (most recent call last):
                ...
            graphveil.errors.BudgetError: the series cost more than the study's ε = 1: ...
        """
        from graphveil.steward.series import open_series

        (request,) = inputs.series_of({name: {**given, "epsilon": epsilon}})
        return open_series(self.folder, request, dry_run=dry_run, even_too_noisy=even_too_noisy)

    def extend(
        self,
        last: object = None,
        *,
        steps: int | None = None,
        prices: Mapping[str, Exact] = MappingProxyType({}),
        dry_run: bool = False,
    ) -> StudyGoingOn:
        """Let the study go on past its last step.

        Args:
            last: the new last step, such as 2035, or
            steps: how many steps more.
            prices: the ε that may be paid for a series, by name; what `dry_run` shows is paid
                where it is not given.
            dry_run: only say what it would cost.

        Examples:
            >>> study.extend(2026, dry_run=True)
            Traceback (most recent call last):
                ...
            graphveil.errors.BudgetError: going on costs ε = 0.242 more, ... and 0 is left. ...
        """
        from graphveil.steward.series import extend

        return extend(
            self.folder,
            last=None if last is None else str(last),
            steps=steps,
            prices=prices,
            dry_run=dry_run,
        )

    def adopt(
        self, reason: str | None = None, *, prices: Mapping[str, Exact] = MappingProxyType({})
    ) -> Adoption:
        """Go on with a copy of a study, with fresh noise; without a reason, only say what changes.

        Args:
            reason: why; it is published.
            prices: the ε that may be paid for fresh noise of a series, by name.

        Examples:
            >>> study.adopt().adopted
            False
        """
        return adoption(self.folder, reason, prices)

    def hand_over(self, code: str) -> None:
        """Let the machine with this code go on with the study, and this one never again.

        Args:
            code: what `graphveil hand-over` without a folder shows on that machine.

        Examples:
            >>> study.hand_over("nobody")
            Traceback (most recent call last):
                ...
            graphveil.errors.ParameterError: to: ...
        """
        hand_over(self.folder, code)

    def promise_ratio(self, name: str, formula: str) -> RatioPromise:
        """Promise one more ratio of series that are open; it costs nothing.

        It is published of every step at which its numbers are, earlier ones included.

        Args:
            name: of the ratio, such as "links per person".
            formula: one sum of series over another, as in `create`.

        Examples:
            >>> study.promise_ratio("links per hub", "2*edges/hubs").name
            'links per hub'
        """
        from graphveil.steward.series import promise_ratio

        return promise_ratio(self.folder, name, formula)

    def frame(self, series: str | None = None, *, pandas: bool = False) -> Any:
        """Every published number, one a row; public.

        The revision comes first: what all numbers published so far say of it now, with its
        interval. Then what was published first: raw and processed values, the standard deviation
        of the noise, the interval, and what is new since the step before with its own.
        `docs/python.md` lists the columns.

        Args:
            series: of this one alone.
            pandas: as a pandas frame, not a polars one.

        Examples:
            >>> study.frame().columns[2:8]
            ['step', 'label', 'degree', 'revised', 'revised_low', 'revised_high']
        """
        return self._frame("published", series, pandas)

    def changes(self, series: str | None = None, *, pandas: bool = False) -> Any:
        """What is new over one or several steps, and against the time before; public.

        Args:
            series: of this one alone.
            pandas: as a pandas frame, not a polars one.

        Examples:
            >>> study.changes("edges")["kind"].unique(maintain_order=True).to_list()
            ['new', 'against the time before']
        """
        return self._frame("changed", series, pandas)

    def ratios(self, *, pandas: bool = False) -> Any:
        """Every promised ratio at every step, with its interval; public.

        Args:
            pandas: as a pandas frame, not a polars one.

        Examples:
            >>> study.ratios().columns[:5]
            ['ratio', 'formula', 'step', 'label', 'value']
        """
        return self._frame("quotients", None, pandas)

    def _frame(self, kind: str, series: str | None, pandas: bool) -> Any:
        frame = getattr(frames, kind)(published(self.folder, series))
        return frames.as_pandas(frame) if pandas else frame

    def plot(self, series: str | None = None) -> Drawing:
        """The chart of a series, which a notebook shows and `save` writes into a file; public.

        Args:
            series: its name; not needed if there is only one.

        Examples:
            >>> study.plot("edges").save("links.svg")
        """
        from graphveil.report.charts import chart

        part = with_estimates(published(self.folder, series))
        shown = part.series
        if len(shown) != 1:
            names = ", ".join(each.series for each in shown)
            raise ParameterError("series", "say which one to plot", hint=f"There are: {names}.")
        return chart(_with_releases(shown[0]), part.promise.calendar)

    def status(self) -> Status:
        """The state of the study; one attribute of the answer, `private`, is for you alone.

        Examples:
            >>> study.status()
            An example: open
              Steps: 3 sealed, the last 2023; next: 2024
              Budget: ε = 1, of which 0 is left
              edges: edges, ε = 0.5
              hubs: high-degree (tau=3), ε = 0.5
        """
        return status(self.folder)

    def report(self) -> Report:
        """Write page, charts, card and table again, from the public part alone.

        Examples:
            >>> study.report().page.name
            'report.html'
        """
        return report(self.folder)

    def verify(self) -> Verification:
        """Check everything that the study claims about itself; changes nothing.

        Examples:
            >>> study.verify()
            <Verification: passed; print it to see what was found>
        """
        from graphveil.steward.verifying import verify

        return verify(self.folder)

    def __repr__(self) -> str:
        return f"Study({str(self.folder)!r})"

    def __str__(self) -> str:
        return "\n".join(frames.as_lines(frames.Public.of(self.folder)))

    def _repr_html_(self) -> str:
        return frames.as_html(frames.Public.of(self.folder))


def _with_releases(series: PublishedSeries) -> PublishedSeries:
    if not series.releases:
        raise StudyError(f"nothing is published of '{series.series}' yet: publish a step first.")
    return series
