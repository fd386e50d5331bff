"""Whatever somebody adds to the schema on a server, or takes from it, `verify` sees."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from graphveil.errors import IntegrityError
from graphveil.study import StoredStudy
from graphveil.study.agreement import require_sound
from graphveil.study.sql import TABLES
from graphveil.study.verification import verify
from studies import opened
from study_databases import new_database

NOTHING = """
CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN NULL; END$$;
CREATE TRIGGER t {} EXECUTE FUNCTION nothing()
"""
PLANTED = {
    NOTHING.format("BEFORE INSERT ON releases FOR EACH ROW"): "trigger t, of table 'releases'",
    NOTHING.format("AFTER TRUNCATE ON series"): "trigger t, of table 'series'",
    "CREATE RULE r AS ON UPDATE TO series DO INSTEAD NOTHING": "rule r, of table 'series'",
    "CREATE POLICY p ON ledger": "policy p, of table 'ledger'",
    "ALTER TABLE ledger ENABLE ROW LEVEL SECURITY": "table 'ledger' is not as",
    "ALTER TABLE releases DISABLE TRIGGER ALL": "switched off, of table 'releases'",
    "ALTER TABLE releases SET UNLOGGED": "table 'releases' is not as",
    "ALTER TABLE ledger ALTER private DROP NOT NULL": "table 'ledger' is not as",
    "ALTER TABLE ledger ALTER hash TYPE varchar(64)": "table 'ledger' is not as",
    "ALTER TABLE ledger ALTER salt SET DEFAULT ''": "table 'ledger' is not as",
    "ALTER TABLE ledger ADD note text": "column note text, of table 'ledger'",
    "ALTER TABLE ledger DROP CONSTRAINT ledger_hash_key": "table 'ledger' is not as",
    "ALTER TABLE releases DROP CONSTRAINT releases_pkey": "table 'releases' is not as",
    "ALTER TABLE releases DROP CONSTRAINT releases_row_fkey": "table 'releases' is not as",
    "ALTER TABLE releases ADD CONSTRAINT few CHECK (step < 9)": "constraint few (step), of table",
    "CREATE UNIQUE INDEX one ON ledger (salt)": "index one, of table 'ledger'",
    "CREATE TABLE child () INHERITS (ledger)": "relative child, of table 'ledger'",
    "DROP TABLE releases": "table 'releases' is not as",
    "ALTER TABLE releases RENAME TO kept; CREATE VIEW releases AS SELECT * FROM kept":
        "table 'releases' is not as",
    "ALTER TABLE about ALTER value SET NOT NULL": "table 'about' is not as",
}  # fmt: skip


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory, postgresql: str) -> StoredStudy:
    made = opened(tmp_path_factory.mktemp("schema") / "study", new_database(postgresql))
    made.publish()
    return made


@pytest.fixture
def meddling(study: StoredStudy) -> Iterator[sa.Connection]:
    """A connection whose changes nobody else sees, and which undoes them."""
    with study.store.engine.connect() as connection:
        yield connection
        connection.rollback()


@pytest.mark.parametrize("statement", PLANTED, ids=range(len(PLANTED)))
def test_what_is_planted_is_seen(meddling: sa.Connection, statement: str) -> None:
    assert require_sound(meddling, TABLES)
    meddling.exec_driver_sql(statement)
    with pytest.raises(IntegrityError, match=re.escape(PLANTED[statement])):
        require_sound(meddling, TABLES)


def test_verify_looks_at_the_schema(root: Path, postgresql: str) -> None:
    study = opened(root, new_database(postgresql))
    assert list(verify(study))
    with study.store.engine.begin() as connection:
        connection.exec_driver_sql("CREATE RULE r AS ON DELETE TO ledger DO INSTEAD NOTHING")
    with pytest.raises(IntegrityError, match="rule r, of table 'ledger', is none of graphveil's"):
        list(verify(study))
    with study.store.engine.begin() as connection:
        connection.exec_driver_sql("DROP RULE r ON ledger; DROP INDEX ix_ledger_event")
    assert list(verify(study))  # an index that is gone only makes reading slower
