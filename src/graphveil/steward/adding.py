"""Adding: files are read and checked, and their records wait for their step; or are withdrawn."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphveil.deferred import pl
from graphveil.errors import InputError, ParameterError, RecordError, UnconfirmedError
from graphveil.graph.intake.links import UNKNOWN_END
from graphveil.graph.intake.records import Records
from graphveil.graph.intake.resolving import NO_TIME
from graphveil.hints import Hint
from graphveil.records import ReadFiles, ReadingOptions
from graphveil.records.columns import plain
from graphveil.records.format import ParseReport
from graphveil.records.options import Filter, Threshold, Undated
from graphveil.study import Added, StoredStudy
from graphveil.study.backends import AS_USUAL, HERE, AddOptions, BackendChoice
from graphveil.study.records.attempts import Attempt, attempting
from graphveil.study.records.findings import PRIVATE

if TYPE_CHECKING:
    from graphveil.study.committed import Committed
    from graphveil.study.promise import Promise

_HELPING = {
    NO_TIME: "undated",
    "outside the years": "excel-dates",
    "plain number": "excel-dates",
    "after the end of the calendar": "ignore-after-end",
}  # by a part of the rule that records break, the hint that helps
_OF_PEOPLE = ("time", "time_from_id", "all_listed")  # stored only where the files date people
_CHOICES = (
    *_OF_PEOPLE, "edge_time", "day_first", "id", "source", "target", "distance", "max_distance",
    "where", "group", "excel_dates", "undated", "encoding",
)  # fmt: skip
# Options that may be given for the first time later: without one of them, files that need it were
# refused, so no earlier file was read otherwise.
_LATER = ("day_first", "id", "source", "target", "distance", "max_distance", "undated", "encoding")
Choices = Mapping[str, Mapping[str, Any]]  # by format, then by option


@dataclass(frozen=True, eq=False)
class Addition:
    """What became of files of records; private, all of it, so `repr` shows nothing.

    Attributes:
        reading: what the files were taken for; None where there were none.
        added: the batch that was stored, if any, and what there is to say about it.
    """

    reading: ReadFiles | None = field(repr=False)
    added: Added = field(repr=False)

    @property
    def batch(self) -> int | None:
        """The number of the batch; None where it was only tried."""
        return self.added.batch

    @property
    def skipped_list(self) -> str | None:
        """The file in the private folder that lists what was set aside, if anything was."""
        return self.added.skipped_list

    def lines(self) -> list[str]:
        """What the steward sees: first about the files, then about the records."""
        about_files = [] if self.reading is None else self.reading.report.lines()
        return [*about_files, *self.added.findings.lines()]

    def __repr__(self) -> str:
        stored = "tried, not stored" if self.batch is None else f"stored as batch {self.batch}"
        return f"<Records {stored}. What was found is private: print it to see it.>"

    def __str__(self) -> str:
        return "\n  ".join([PRIVATE, *self.lines()])

    def write_details(self, path: Path) -> None:
        """Write which records were re-dated or vanished, for their owner's eyes only."""
        from graphveil.whole_files import write_whole

        content = self.added.findings.details.write_csv().encode()
        write_whole(path, lambda file: file.write(content), parameter="list", mode=0o600)

    def as_data(self) -> dict[str, Any]:
        """For programs."""
        findings = self.added.findings
        report = ParseReport((), ()) if self.reading is None else self.reading.report
        return {
            "private": PRIVATE,
            "batch": self.batch,
            "files": [asdict(each) for each in report.files],
            "notes": [str(each) for each in report.notes],
            **asdict(findings.intake),
            "vanished_nodes": findings.vanished_nodes,
            "vanished_edges": findings.vanished_edges,
            "alike_ids": findings.alike_ids,
            "keeps_bound": findings.keeps_bound,
            "people_beyond": findings.people_beyond,
            "awaiting": findings.awaiting,
            "doubt": findings.doubt,
            "unlisted_labels": [each._asdict() for each in findings.unlisted],
            "skipped": [
                {"kind": each.kind, "column": each.column, "reason": each.rule, "rows": len(each)}
                for each in findings.skipped
            ],
        }


def add(
    folder: Path,
    files: Sequence[str | Path],
    *,
    format: str | None = None,  # noqa: A002
    options: ReadingOptions | None = None,
    how: AddOptions = AS_USUAL,
    change_reading: bool = False,
    engine: BackendChoice = HERE,
    called: Sequence[str] | None = None,
) -> Addition:
    """Read files and store their records; the first ones open the study.

    Until they are in, or given up with `abandon`, no further step is published.

    Args:
        folder: the study.
        files: one or many.
        format: of all files; None recognises each by its content.
        options: what the files do not say themselves.
        how: what the steward states about the records; `options` say which people without a date
            there are.
        change_reading: take the options as they are, whatever they were for files before.
        engine: where the records are checked and taken in.
        called: what the steward calls the files, if they were moved on the way here.
    """
    study = StoredStudy.at(folder)
    if not files:
        raise ParameterError("files", "name at least one file of records")
    given = replace(options or ReadingOptions(), mark_bad=not how.strict)
    names = [str(file) for file in files] if called is None else called
    state = study.committed()
    with _attempting(study, state, names, dry_run=how.dry_run) as attempt:
        return _add(study, state, files, format, given, how, engine, attempt, change=change_reading)


def _add(
    study: StoredStudy,
    state: Committed,
    files: Sequence[str | Path],
    format_name: str | None,
    given: ReadingOptions,
    how: AddOptions,
    engine: BackendChoice,
    attempt: Attempt | None,
    *,
    change: bool,
) -> Addition:
    before = {} if change else state.ledger.read_as
    used = _as_before(given, before)
    engine.require_possible(study.promise(state.ledger), format_name, given)
    with engine.running() as backend:
        with _advising(how.strict):
            reading = backend.read(files, format_name, given, used)
        _refuse_otherwise(used, before, reading)
        with _advising(how.strict, reading.records):
            _require_direction(reading.directed, study.promise(state.ledger))
            added = replace(study, chosen=backend).add(
                reading.records,
                replace(how, undated=_undated(given, used, reading)),
                read_as=_choices(given, used, before, reading),
                attempt=attempt,
                since=state,
            )
    return Addition(reading, added)


@contextmanager
def _attempting(
    study: StoredStudy, state: Committed, files: Sequence[str], *, dry_run: bool
) -> Iterator[Attempt | None]:
    """The attempt to add files, unless it is only a try."""
    if dry_run:
        yield None
        return
    with attempting(study.folder, state.ledger, files) as attempt:
        yield attempt


def add_records(
    folder: Path,
    records: Records,
    *,
    directed: bool | None = None,
    how: AddOptions = AS_USUAL,
) -> Addition:
    """Add records that are here already; the first ones open the study.

    Args:
        folder: the study.
        records: nodes and edges.
        directed: whether their source says that edges have a direction; None if it does not.
        how: what the steward states about them.
    """
    study = StoredStudy.at(folder)
    state = study.committed()
    with (
        _attempting(study, state, _contents(records), dry_run=how.dry_run) as attempt,
        _advising(how.strict, records),
    ):
        _require_direction(directed, study.promise(state.ledger))
        added = study.add(records, how, attempt=attempt, since=state)
    return Addition(None, added)


def _contents(records: Records) -> list[str]:
    """What records in memory are called: by their content, since they have no other name."""
    return [f"{table.source} {_hash(table.frame)}" for table in (records.nodes, records.edges)]


def _hash(frame: pl.DataFrame) -> str:
    return hashlib.sha256(frame.hash_rows().to_numpy().tobytes()).hexdigest()[:8]


@contextmanager
def _advising(strict: bool, records: Records | None = None) -> Iterator[None]:
    """Adds to a refusal because of a row how to continue without that row."""
    try:
        yield
    except RecordError as refused:
        raise refused.advising(_advice(refused, records)) if strict else refused from refused
    except UnconfirmedError as doubtful:
        hint = Hint.joined(doubtful.hint, *_helping(doubtful.rule))
        raise UnconfirmedError(doubtful.problem, doubtful.rule, hint=hint) from doubtful


def _helping(rule: str) -> list[Hint]:
    """What helps with a rule in particular; nothing if nothing does."""
    return [Hint(code) for part, code in _HELPING.items() if part in rule][:1]


def _advice(refused: RecordError, records: Records | None) -> str:
    here = records if isinstance(records, Records) else None  # Spark has its own elsewhere
    if refused.rule == UNKNOWN_END and here is not None and _only_zeros(refused, here):
        return "Ids differ in zeros only, as 001 and 1, or 1.0 and 1: write them alike everywhere."
    counted = f"{len(refused.rows):,} rows have none:" if refused.rule == NO_TIME else ""
    return Hint.joined(counted, *(_helping(refused.rule) or [Hint("not-strict")]))


def _only_zeros(refused: RecordError, records: Records) -> bool:
    """Whether links that name nobody name somebody whose id has other zeros."""

    def bare(ids: pl.Series) -> pl.Series:
        return ids.str.replace(r"\.0+$", "").str.replace(r"^0+([0-9])", "$1")

    nodes, edges = _texts(records.nodes.frame["node"]), records.edges.frame
    own = refused.rows[refused.rows < len(edges)]  # others waited since an earlier batch
    ends = [_texts(edges[end].gather(own)) for end in ("source", "target")]
    strangers = pl.concat([end.filter(~end.is_in(nodes.implode())).alias("end") for end in ends])
    return bool(bare(strangers).is_in(bare(nodes).implode()).any())


def _texts(ids: pl.Series) -> pl.Series:
    return ids.cast(pl.String).str.strip_chars()


def withdraw(folder: Path, batch: int) -> None:
    """Withdraw the batch of this number: the latest, unless a step was sealed since it came."""
    StoredStudy.at(folder).withdraw(batch)


def abandon(folder: Path) -> int:
    """Give up the files whose addition was refused or did not end; how often that was tried."""
    from graphveil.study.records import attempts

    return attempts.abandon(StoredStudy.at(folder).folder)


def _require_direction(found: bool | None, promise: Promise) -> None:
    """Refuse records that say that their links are of another kind than the study's."""
    directed = promise.directed
    if found in (None, directed):
        return
    words = {True: "directed", False: "undirected"}
    raise InputError(
        f"the records say that links are {words[not directed]}, but the study says that they are "
        f"{words[directed]}",
        hint="Convert them, or open a study of the other kind.",
    )


# Files are read as those before them, here and by Spark.
#
# Which field dates people is the steward's choice, made once: with the first files of a format it
# is stored in the private part of the study, and a different choice later has to be confirmed.


def _as_before(given: ReadingOptions, before: Choices) -> dict[str, ReadingOptions]:
    """The options for each format that was read before: those not given now stay as they were."""
    return {name: _completed(given, stored) for name, stored in before.items()}


def _completed(given: ReadingOptions, stored: Mapping[str, Any]) -> ReadingOptions:
    dated = given.time is not None or given.time_from_id is not None  # one stands for the other
    missing: dict[str, Any] = {
        each: _value(stored[each])
        for each in stored
        if not _is_given(getattr(given, each)) and not (dated and each in ("time", "time_from_id"))
    }
    return replace(given, **missing)


def _is_given(choice: object) -> bool:
    """Whether the steward gave this option; a flag that was not set counts as not given."""
    return choice not in (None, ()) and choice is not False


def _value(stored: Any) -> Any:
    return tuple(stored) if isinstance(stored, list) else stored


def _refuse_otherwise(
    used: Mapping[str, ReadingOptions], before: Choices, found: ReadFiles
) -> None:
    """Refuse options that differ from those under which files of a format were read before."""
    for name in found.read:
        stored = before.get(name, {})
        for each in stored:
            if each in _OF_PEOPLE and name not in found.formats:
                continue
            if each in _LATER and stored[each] is None:
                continue
            if not _agree(getattr(used[name], each), _value(stored[each])):
                was = "not given" if not stored[each] else f"'{_shown_choice(stored[each])}'"
                raise ParameterError(
                    each,
                    f"was {was} when {name} files were added before",
                    hint=Hint("change-reading"),
                )


def _shown_choice(choice: Any) -> str:
    return " and ".join(choice) if isinstance(choice, list | tuple) else str(choice)


def _agree(now: Any, before: Any) -> bool:
    """Whether two choices mean the same."""
    if isinstance(now, tuple) and isinstance(before, tuple):
        return _conditions(now) == _conditions(before)
    if isinstance(now, str) and isinstance(before, str):
        return plain(now) == plain(before) or _same_distance(now, before)
    return bool(now == before)


def _conditions(texts: tuple[str, ...]) -> set[Filter]:
    """Conditions without their kind of table, which is worked out and then stored."""
    return {replace(Filter.of(each), kind=None) for each in texts}


def _same_distance(now: str, before: str) -> bool:
    try:
        return Threshold.of(now).agrees(Threshold.of(before))
    except ParameterError:
        return False


def _choices(
    given: ReadingOptions,
    used: Mapping[str, ReadingOptions],
    before: Choices,
    found: ReadFiles,
) -> dict[str, dict[str, Any]]:
    """What to store about the files of these formats: all given options, as understood."""
    return {
        name: {
            **before.get(name, {}),
            **{
                each: getattr(used.get(name, given), each)
                for each in _CHOICES
                if each not in _OF_PEOPLE or name in found.formats
            },
            **found.understood.get(name, {}),
        }
        for name in found.read
    }


def _undated(
    given: ReadingOptions, used: Mapping[str, ReadingOptions], found: ReadFiles
) -> Undated | None:
    """What becomes of people without a date: as given now, or before for files of these formats."""
    choices_made = (used.get(name, given).undated for name in found.read)
    return given.undated or next((each for each in choices_made if each is not None), None)
