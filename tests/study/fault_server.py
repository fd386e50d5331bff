"""A program that runs commands of a study, each in a fresh process that may be struck by a fault.

It has loaded everything and started nothing (no thread outlives a fork), so that a fresh
process costs a fork and not a second of imports. One request a line comes in, one answer a line
goes out, as JSON.
"""

from __future__ import annotations

import io
import json
import os
import resource
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import graphveil
from faults import MEMORY, TAKER, Fault, Watch, install

NEEDED = (
    "opendp.prelude",
    "psycopg",
    "scipy.optimize",
    "sqlalchemy.dialects.postgresql",
    "sqlalchemy.dialects.sqlite",
    "graphveil.cli",
    "graphveil.backends",
    "graphveil.report.charts",
    "graphveil.study.verification",
    "studies",
)


def _create(root: Path, database: str | None) -> None:
    from graphveil.study import StoredStudy
    from studies import promise

    StoredStudy.create(root, promise(), database=database)


def _add(root: Path, _: str | None) -> None:
    from graphveil.study import StoredStudy
    from studies import people

    StoredStudy.at(root).add(people())


def _skip(root: Path, _: str | None) -> None:
    from graphveil.study import StoredStudy
    from graphveil.study.backends import AddOptions
    from studies import people_and_bad_rows

    StoredStudy.at(root).add(people_and_bad_rows(), AddOptions(yes=True))


def _series(root: Path, _: str | None) -> None:
    from graphveil.study import SeriesPromise, StoredStudy

    StoredStudy.at(root).open_series(SeriesPromise(name="nodes", statistic="nodes", epsilon="1/2"))


def _publish(root: Path, _: str | None) -> None:
    from graphveil.study import StoredStudy

    StoredStudy.at(root).publish()


def _publish_first(root: Path, _: str | None) -> None:
    from graphveil.study import StoredStudy

    StoredStudy.at(root).publish(0)


def _backfill(root: Path, _: str | None) -> None:
    from graphveil.study import StoredStudy

    StoredStudy.at(root).publish(2)


def _withdraw(root: Path, _: str | None) -> None:
    from graphveil.study import StoredStudy

    StoredStudy.at(root).withdraw(StoredStudy.at(root).ledger().batches[-1].number)


def _adopt(root: Path, _: str | None) -> None:
    from graphveil.study import StoredStudy

    StoredStudy.at(root).adopt("another copy may have gone on")


def _extend(root: Path, _: str | None) -> None:
    from graphveil.study import StoredStudy
    from graphveil.study.extension import Further

    StoredStudy.at(root).extend(Further(steps=2))


def _hand_over(root: Path, _: str | None) -> None:
    from graphveil.study import StoredStudy

    StoredStudy.at(root).hand_over(TAKER)


def _command_line(root: Path, _: str | None) -> None:
    """The whole `graphveil publish`, with its report; only the pictures are not drawn."""
    from graphveil.cli import main
    from graphveil.report import charts

    setattr(charts, "drawing", lambda *_, **__: b"<svg/>")  # noqa: B010 - seen by no type checker
    sys.argv = ["graphveil", "publish", str(root)]
    with redirect_stdout(io.StringIO()):
        main()


COMMANDS: dict[str, Callable[[Path, str | None], None]] = {
    "create": _create,
    "add": _add,
    "add --yes": _skip,
    "series": _series,
    "publish": _publish,
    "publish 2001": _publish_first,
    "backfill": _backfill,
    "withdraw": _withdraw,
    "adopt": _adopt,
    "extend": _extend,
    "hand-over": _hand_over,
    "graphveil publish": _command_line,
}


def run(request: dict[str, Any]) -> dict[str, Any]:
    """Run one command here and now; what it did, and how it ended."""
    watch = Watch(Path(request["root"]), request["fault"] and Fault(**request["fault"]))
    os.environ["GRAPHVEIL_STATE"] = str(watch.root / MEMORY)
    machines: Any = import_module("graphveil.study.machine")
    machines.require_outside = lambda *_: None  # here it is copied with the study, on purpose
    install(watch)
    if request["largest_file"] is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (request["largest_file"],) * 2)
    kind, printed = None, io.StringIO()
    try:
        with redirect_stderr(printed):
            COMMANDS[request["command"]](watch.root, request["database"])
    except SystemExit as leaving:
        kind = None if not leaving.code else f"exit {leaving.code}"
    except Exception as raised:
        kind = type(raised).__name__
        printed.write(str(raised))
    message, head = printed.getvalue(), _head(watch.root)
    return {"effects": watch.names, "kind": kind, "message": message, "head": head}


def _head(root: Path) -> str:
    """What the public ledger is now, in short."""
    ledger = root / "public" / "ledger.jsonl"
    return sha256(ledger.read_bytes()).hexdigest() if ledger.exists() else ""


def _load() -> None:
    """Import all that a command needs; compile something, so that numba is ready."""
    import numba

    for name in (*NEEDED, *_modules()):
        import_module(name)
    numba.njit(lambda number: number + 1)(1)
    _load_kernels()


def _modules() -> Iterator[str]:
    """All of ours but what no command of these uses: each is imported only where it is needed."""
    others = ("lab", "web")
    for each in walk_packages(graphveil.__path__, "graphveil."):
        if each.name.split(".")[1] not in others and not each.name.endswith("__main__"):
            yield each.name


def _load_kernels() -> None:
    """Load what was compiled before, or each of the fresh processes would, for a while."""
    from numba.core.registry import CPUDispatcher

    ours = [module for name, module in sys.modules.items() if name.startswith("graphveil.")]
    values = (each for module in ours for each in vars(module).values())
    for kernel in {each for each in values if isinstance(each, CPUDispatcher)}:
        kept = getattr(kernel._cache, "_cache_file", None)  # not all kernels have one
        for signature, *_ in kept._load_index() if kept else ():
            kernel.compile(signature)


def together(requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Run commands at the same moment, each in a process of its own.

    One that gives no answer was killed.
    """
    ready, go = os.pipe()
    started = [_forked(request, ready, go) for request in requests]
    os.close(ready)
    os.close(go)  # the children see the end of this pipe, and begin
    return [_ended(child, answers) for child, answers in started]


def _forked(request: dict[str, Any], ready: int, go: int) -> tuple[int, int]:
    receiving, sending = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(go)
        os.read(ready, 1)
        answer = json.dumps(run(request)).encode()
        with os.fdopen(sending, "wb") as pipe:
            pipe.write(answer)
        os._exit(0)
    os.close(sending)
    return child, receiving


def _ended(child: int, answers: int) -> dict[str, Any]:
    with os.fdopen(answers, "rb") as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    return {"killed_by": os.WTERMSIG(status), **(json.loads(text) if text else {})}


def main() -> None:
    """Serve until nobody asks any more."""
    _load()
    print(json.dumps("ready"), flush=True)
    for line in sys.stdin:
        print(json.dumps(together(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
