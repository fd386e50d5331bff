"""The outbreak of `../contacts` in everything that holds tables: ``python make.py``."""

from __future__ import annotations

import csv
import datetime as dt
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import pandas as pd
import rdata
import xlsxwriter

HERE = Path(__file__).resolve().parent
MADE = dt.datetime(2014, 5, 1)


def lines(name: str, above: int = 0) -> list[list[str]]:
    """The rows of a plain file, without titles."""
    with (HERE.parent / "contacts" / name).open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))[above:]


def frame(header: list[str], rows: list[list[str]]) -> pd.DataFrame:
    """A data frame as the library for R can write it."""
    columns = zip(header, zip(*rows, strict=True), strict=True)
    found = pd.DataFrame({name: pd.Series(list(each), dtype=object) for name, each in columns})
    found.columns = pd.Index(header, dtype=object)
    return found


def main() -> None:
    """Write every file."""
    tables = {"linelist": lines("linelist.csv", 1), "contacts": lines("contacts.csv")}
    with xlsxwriter.Workbook(HERE / "outbreak.xlsx") as book:
        book.set_properties({"created": MADE})
        for name, rows in tables.items():
            sheet = book.add_worksheet(name)
            for number, cells in enumerate(rows):
                sheet.write_row(number, 0, cells)
    for name in tables:
        with zipfile.ZipFile(HERE / f"{name}.zip", "w") as archive:
            archive.writestr(
                zipfile.ZipInfo(f"{name}.csv", MADE.timetuple()[:6]),
                (HERE.parent / "contacts" / f"{name}.csv").read_bytes(),
            )
        text = (HERE.parent / "contacts" / f"{name}.csv").read_text(encoding="utf-8")
        (HERE / f"{name}-utf16.csv").write_text(text, encoding="utf-16", newline="")
        (HERE / f"{name}.tsv").write_text(text.replace(",", "\t"), encoding="utf-8", newline="")
    (HERE / "outbreak.db").unlink(missing_ok=True)
    with closing(sqlite3.connect(HERE / "outbreak.db")) as database, database:
        for name, (header, *rows) in tables.items():
            columns = ", ".join(f'"{column}"' for column in header)
            database.execute(f"CREATE TABLE {name} ({columns})")
            database.executemany(
                f"INSERT INTO {name} VALUES ({', '.join('?' * len(header))})",
                [[cell or None for cell in row] for row in rows],
            )
    frames = {name: frame(header, rows) for name, (header, *rows) in tables.items()}
    rdata.write_rds(HERE / "outbreak.rds", frames, compression=None)  # gzip would write the clock


if __name__ == "__main__":
    main()
