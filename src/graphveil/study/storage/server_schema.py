"""The schema on a PostgreSQL server: all that it has of graphveil's tables, and nothing besides.

A trigger can change what is entered, a child table or a policy what is read, a table that is not
logged forgets at a crash. So everything that the server knows of a table is listed, as words, and
compared with what graphveil makes; what is not foreseen here is a difference, too.
"""

from __future__ import annotations

from collections.abc import Iterator

import sqlalchemy as sa

Features = dict[str, set[str]]

_OURS = """
WITH ours AS (
    SELECT oid, relname, relkind::text, relpersistence::text, relrowsecurity
    FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND relname = ANY(%(ours)s)
)
"""
_FEATURES = (
    """
    SELECT relname, relkind || relpersistence || CASE WHEN relrowsecurity THEN
        ' with row security' ELSE '' END
    FROM ours
    """,
    """
    SELECT relname, 'column ' || attname || ' ' || format_type(atttypid, atttypmod)
        || CASE WHEN attnotnull THEN ' not null' ELSE '' END
        || CASE WHEN atthasdef OR attidentity <> '' OR attgenerated <> '' THEN
            ' made by itself' ELSE '' END
    FROM ours JOIN pg_attribute ON attrelid = ours.oid
    WHERE attnum > 0 AND NOT attisdropped
    """,
    """
    SELECT relname, CASE contype WHEN 'p' THEN 'primary key' WHEN 'u' THEN 'unique'
        WHEN 'f' THEN 'foreign key to ' || confrelid::regclass::text
        ELSE 'constraint ' || conname END
        || ' (' || (
            SELECT string_agg(attname, ', ' ORDER BY place)
            FROM unnest(conkey) WITH ORDINALITY AS named (number, place)
            JOIN pg_attribute ON attrelid = conrelid AND attnum = number
        ) || ')' || CASE WHEN convalidated AND NOT condeferred THEN '' ELSE ', loosely' END
    FROM ours JOIN pg_constraint ON conrelid = ours.oid
    WHERE contype <> 'n' -- newer servers list NOT NULL here as well
    """,
    """
    SELECT relname, 'index ' || indexrelid::regclass::text
    FROM ours JOIN pg_index ON indrelid = ours.oid
    WHERE NOT EXISTS (
        SELECT FROM pg_constraint WHERE conindid = indexrelid AND contype IN ('p', 'u')
    )
    """,
    """
    SELECT relname, 'trigger ' || tgname || CASE WHEN tgisinternal THEN ', switched off' ELSE '' END
    FROM ours JOIN pg_trigger ON tgrelid = ours.oid
    WHERE NOT tgisinternal OR tgenabled <> 'O'
    """,
    "SELECT relname, 'rule ' || rulename FROM ours JOIN pg_rewrite ON ev_class = ours.oid",
    "SELECT relname, 'policy ' || polname FROM ours JOIN pg_policy ON polrelid = ours.oid",
    """
    SELECT relname, 'relative ' || CASE WHEN inhparent = ours.oid THEN inhrelid ELSE inhparent END
        ::regclass::text
    FROM ours JOIN pg_inherits ON ours.oid IN (inhparent, inhrelid)
    """,
)


def difference(connection: sa.Connection, tables: sa.MetaData) -> str | None:
    """The first difference from what graphveil makes, in words; None if there is none."""
    found = _found(connection, list(tables.tables))
    for table in tables.sorted_tables:
        required, made = set(_required(table)), found[table.name]
        stranger = min(made - required - _allowed(table), default=None)
        if required - made:
            return f"table '{table.name}' is not as graphveil makes it"
        if stranger is not None:
            return f"{stranger}, of table '{table.name}', is none of graphveil's"
    return None


def _found(connection: sa.Connection, names: list[str]) -> Features:
    """What the server knows of each table."""
    found: Features = {name: set() for name in names}
    for query in _FEATURES:
        for table, feature in connection.exec_driver_sql(_OURS + query, {"ours": names}):
            found[table].add(feature)
    return found


def _required(table: sa.Table) -> Iterator[str]:
    """What graphveil makes of a table."""
    yield "rp"  # an ordinary table, which is logged
    for column in table.columns:
        kind = str(column.type).lower()
        yield f"column {column.name} {kind}{'' if column.nullable else ' not null'}"
        if column.unique:
            yield f"unique ({column.name})"
        for key in column.foreign_keys:
            yield f"foreign key to {key.column.table.name} ({column.name})"
    yield f"primary key ({', '.join(each.name for each in table.primary_key)})"


def _allowed(table: sa.Table) -> set[str]:
    """What it may have as well: it only makes reading faster."""
    return {f"index {each.name}" for each in table.indexes}
