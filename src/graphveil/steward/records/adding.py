"""Adding: files are read and checked, and their records wait for their step; or are withdrawn."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphveil.errors import InputError, ParameterError, RecordError, UnconfirmedError
from graphveil.graph.intake.links import UNKNOWN_END
from graphveil.graph.intake.records import Records
from graphveil.graph.intake.resolving import NO_TIME
from graphveil.hints import Hint
from graphveil.records import ReadingOptions
from graphveil.records.format import ParseReport
from graphveil.study.backends import AS_USUAL, HERE, AddOptions, BackendChoice
from graphveil.study.records.findings import PRIVATE

if TYPE_CHECKING:
    import polars as pl

    from graphveil.records import ReadFiles
    from graphveil.study import Added, StoredStudy
    from graphveil.study.committed import Committed
    from graphveil.study.promise import Promise
    from graphveil.study.records.attempts import Attempt

_HELPING = {
    NO_TIME: "undated",
    "outside the years": "excel-dates",
    "plain number": "excel-dates",
    "after the end of the calendar": "ignore-after-end",
}  # by a part of the rule that records break, the hint that helps


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
    from graphveil.study import StoredStudy

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
    from graphveil.steward.records import reading_alike

    before = {} if change else state.ledger.read_as
    used = reading_alike.as_before(given, before)
    engine.require_possible(study.promise(state.ledger), format_name, given)
    with engine.running() as backend:
        with _advising(how.strict):
            reading = backend.read(files, format_name, given, used)
        reading_alike.refuse_otherwise(used, before, reading)
        with _advising(how.strict, reading.records):
            _require_direction(reading.directed, study.promise(state.ledger))
            added = replace(study, chosen=backend).add(
                reading.records,
                replace(how, undated=reading_alike.undated(given, used, reading)),
                read_as=reading_alike.choices(given, used, before, reading),
                attempt=attempt,
                since=state,
            )
    return Addition(reading, added)


@contextmanager
def _attempting(
    study: StoredStudy, state: Committed, files: Sequence[str], *, dry_run: bool
) -> Iterator[Attempt | None]:
    """The attempt to add files, unless it is only a try."""
    from graphveil.study.records.attempts import attempting

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
    from graphveil.study import StoredStudy

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
    import polars as pl

    def bare(ids: pl.Series) -> pl.Series:
        return ids.str.replace(r"\.0+$", "").str.replace(r"^0+([0-9])", "$1")

    nodes, edges = _texts(records.nodes.frame["node"]), records.edges.frame
    own = refused.rows[refused.rows < len(edges)]  # others waited since an earlier batch
    ends = [_texts(edges[end].gather(own)) for end in ("source", "target")]
    strangers = pl.concat([end.filter(~end.is_in(nodes.implode())).alias("end") for end in ends])
    return bool(bare(strangers).is_in(bare(nodes).implode()).any())


def _texts(ids: pl.Series) -> pl.Series:
    import polars as pl

    return ids.cast(pl.String).str.strip_chars()


def withdraw(folder: Path, batch: int) -> None:
    """Withdraw the batch of this number: the latest, unless a step was sealed since it came."""
    from graphveil.study import StoredStudy

    StoredStudy.at(folder).withdraw(batch)


def abandon(folder: Path) -> int:
    """Give up the files whose addition was refused or did not end; how often that was tried."""
    from graphveil.study import StoredStudy
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
