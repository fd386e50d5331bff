"""Mutants: plant small errors between a count and a published number, and see which tests notice.

    python3 tasks.py mutants                       every module in scope (an hour or more)
    python3 tasks.py mutants noise planning/plan   those whose names begin so
    python3 tasks.py mutants noise/laws --tests noise/test_laws.py
    python3 tasks.py mutants study/course/opening --slowest 15   longer tests as well
    python3 tasks.py mutants --again               those that lived last time
    python3 tasks.py mutants --list                those that change nothing, for docs/mutants.md
    python3 tasks.py mutants --tally               what became of all, for docs/mutants.md

`tools/equivalent_mutants.toml` lists the mutants that change nothing, and why.
"""

from __future__ import annotations

import argparse
import json
import tomllib
from collections import Counter, defaultdict
from itertools import groupby
from pathlib import Path
from typing import Any

from mutant_trials import DEAD, SLOWEST, Results, Trials, asked, run
from mutations import mutants_of
from seen_tests import Memory

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "graphveil"
LAST = ROOT / "build" / "mutants.json"
TESTS_SEEN = ROOT / "build" / "tests_seen.json"
EQUIVALENTS = ROOT / "tools" / "equivalent_mutants.toml"
SCOPE = {  # what is mutated, and the tests that should notice
    "noise": "noise mechanisms planning",
    "mechanisms": "mechanisms noise planning",
    "factorisations": "factorisations mechanisms planning",
    "series": "series planning study/test_series_in_life.py",
    "planning": "planning series",
    "statistics": "statistics planning mechanisms/test_baselines.py testing",
    "study/publishing": "study series",
    "study/records/local/holder": "study",
    "study/records/local/growing": "study",
    "study/course/opening": "study",
    "study/course/extension": "study",
    "study/course/one_more_series": "study",
    "study/course/replanned": "study",
    "study/committed": "study",
    "study/public/announcing": "study report",
    "study/public/history": "study report",
    "study/public/told_plans": "study planning",
    "study/public/gaussian_prices": "study",
    "study/place/witness": "study",
    "study/course/adoption": "study",
    "study/place/machine": "study",
}
PATIENCE = 30.0  # seconds of tests that one mutant is given
FATES = ("killed", "timeout", "equivalent", "survivor", "never run")
NOT_TRIED = "not tried"


def row(module: str, tally: Counter[str]) -> str:
    """A line of the table in docs/mutants.md."""
    figures = [tally.total(), *(tally[fate] for fate in FATES)]
    return f"| {module} | " + " | ".join(map(str, figures)) + " |"


def listed() -> dict[str, list[dict[str, Any]]]:
    """The list of what is not asked, or needs no answer."""
    return tomllib.loads(EQUIVALENTS.read_text(encoding="utf-8"))


def entries() -> list[dict[str, Any]]:
    """What is said of mutants that change nothing."""
    return listed()["equivalent"]


def searches() -> dict[str, str]:
    """Modules that only look for something good, which others then check; and why that holds."""
    return {entry["module"]: entry["reason"] for entry in listed()["search"]}


def equivalents() -> Results:
    """The mutants that change nothing."""
    return {
        (entry["module"], entry["where"], entry["line"], change): "equivalent"
        for entry in entries()
        for change in entry["changes"]
    }


def told() -> str:
    """The list as it stands in docs/mutants.md."""
    lines = []
    for module, group in groupby(entries(), key=lambda entry: entry["module"]):
        lines.append(f"### {module}\n")
        for entry in group:
            where = f"`{entry['where']}`, " if entry["where"] else ""
            changes = "; ".join(f"`{change}`" for change in entry["changes"])
            lines.append(f"- {where}`{entry['line']}`: {changes}. {entry['reason']}")
        lines.append("")
    for module, reason in searches().items():
        lines.append(f"### {module}\n\n- Everything. {reason}\n")
    return "\n".join(lines).rstrip()


def modules_in_scope() -> dict[str, str]:
    """Every module that is mutated, with the tests that should notice."""
    found = {}
    for part, tests in SCOPE.items():
        folder = PACKAGE / part
        files = sorted(folder.rglob("*.py")) if folder.is_dir() else [folder.with_suffix(".py")]
        for file in files:
            if file.name not in ("__init__.py", "tallies.py"):  # tallies count, by definition
                found[str(file.relative_to(PACKAGE).with_suffix(""))] = tests
    left_out = {module.removesuffix(".py") for module in searches()}
    return {module: tests for module, tests in found.items() if module not in left_out}


def kept() -> Results:
    """What became of each mutant when it was tried last."""
    found = json.loads(LAST.read_text("utf-8")) if LAST.exists() else []
    return {tuple(mutant): fate for mutant, fate in found}


def tally() -> str:
    """The table of docs/mutants.md: what became of the mutants of the source as it is."""
    fates, together, lines = kept() | equivalents(), Counter[str](), []
    for module in modules_in_scope():
        _, found = mutants_of(PACKAGE / f"{module}.py", f"{module}.py")
        here = Counter(fates.get(mutant.identity, NOT_TRIED) for mutant in asked(found))
        together += here
        lines.append(f"{row(f'`{module}.py`', here)} {here[NOT_TRIED]} |")
    return "\n".join([*lines, f"{row('**together**', together)} {together[NOT_TRIED]} |"])


def keep(module: str, results: Results) -> None:
    """Remember what became of a module's mutants, and print the tally."""
    LAST.parent.mkdir(exist_ok=True)
    others = {mutant: fate for mutant, fate in kept().items() if mutant[0] != f"{module}.py"}
    LAST.write_text(
        json.dumps([*(others | results).items()], indent=0, ensure_ascii=False), "utf-8"
    )
    print(row(f"`{module}.py`", Counter(results.values())), flush=True)


def main() -> None:
    """Try the mutants of the modules that are asked for, one group of tests after another."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("modules", nargs="*", default=[""])
    parser.add_argument("--tests", help="other tests than the usual ones")
    parser.add_argument("--patience", type=float, default=PATIENCE, help="seconds of tests")
    parser.add_argument("--slowest", type=float, default=SLOWEST, help="seconds of a test")
    parser.add_argument("--again", action="store_true", help="only those that lived last time")
    parser.add_argument("--list", action="store_true", help="print those that change nothing")
    parser.add_argument("--tally", action="store_true", help="print what became of all")
    wanted = parser.parse_args()
    if wanted.list or wanted.tally:
        return print(told() if wanted.list else tally())
    known = equivalents()
    if wanted.again:
        known |= {mutant: fate for mutant, fate in kept().items() if fate in DEAD}
    groups: dict[str, list[str]] = defaultdict(list)
    for module, tests in modules_in_scope().items():
        if any(module.startswith(each) for each in wanted.modules):
            groups[wanted.tests or tests].append(module)
    for tests, modules in groups.items():
        paths = [ROOT / "tests" / test for test in tests.split()]
        limits = (wanted.patience, keep, wanted.slowest)
        run(Trials(PACKAGE, modules, known, *limits, Memory(TESTS_SEEN)), paths)
    return None


if __name__ == "__main__":
    main()
