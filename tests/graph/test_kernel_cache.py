"""A cache of compiled code that is stale, broken or has no place never stops a count."""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numba.core import config
from numba.core.caching import CompileResultCacheImpl

from graphveil import kernels

SOURCE = """
from typing import NamedTuple

from graphveil.kernels import kernel


class {name}(NamedTuple):
    factor: int


@kernel
def scaled(values, plan):
    total = 0
    for value in values:
        total += value * plan.factor
    return total
"""


def loaded(folder: Path, name: str) -> Callable[[int], int]:
    """The kernel of a module whose class has this name; the module's other lines stay."""
    path = folder / "user_kernels.py"
    path.write_text(SOURCE.format(name=name))
    os.utime(path, (0, 0))  # numba tells versions of a source apart by time and size
    spec = importlib.util.spec_from_file_location("user_kernels", path)
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    sys.modules["user_kernels"] = module
    spec.loader.exec_module(module)
    return lambda factor: int(module.scaled(np.arange(4), getattr(module, name)(factor)))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setitem(sys.modules, "user_kernels", ModuleType("user_kernels"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # which dates tell apart, as numba does
    return tmp_path


def indexes(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.nbi"))


def test_machine_code_is_kept_and_found_again(folder: Path) -> None:
    assert loaded(folder, "First")(2) == 12
    (index,) = indexes(folder)
    code = sorted(folder.rglob("*.nbc"))
    assert code
    before = index.read_bytes()
    assert loaded(folder, "First")(2) == 12
    assert index.read_bytes() == before


def test_a_class_that_was_renamed_does_not_matter(folder: Path) -> None:
    """The index names classes of the version that wrote it, and is read before its date."""
    assert loaded(folder, "First")(2) == 12
    assert loaded(folder, "Other")(3) == 18


@pytest.mark.parametrize("content", [b"", b"nonsense", b"\x80\x04K\x01."])
def test_a_broken_index_does_not_matter(folder: Path, content: bytes) -> None:
    assert loaded(folder, "First")(2) == 12
    (index,) = indexes(folder)
    index.write_bytes(content)
    assert loaded(folder, "First")(2) == 12


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine on which neither the package nor the home can be written."""
    find = CompileResultCacheImpl.__init__

    def refuse(self: Any, function: Any) -> None:
        if not config.CACHE_DIR:
            raise RuntimeError("no locator available")
        find(self, function)

    monkeypatch.setattr(CompileResultCacheImpl, "__init__", refuse)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path / f"graphveil-kernels-{os.getuid()}"


def sample(values: Any) -> Any:
    return values.sum()


def test_without_a_place_the_temporary_folder_is_used_by_its_owner_alone(nowhere: Path) -> None:
    found = kernels.cache_of(sample)
    assert found is not None
    assert str(found.cache_path).startswith(str(nowhere))
    assert nowhere.stat().st_mode & 0o777 == 0o700
    assert not config.CACHE_DIR


@pytest.mark.parametrize("planted", ["open to others", "a link", "a file"])
def test_code_is_never_taken_from_where_others_can_write(nowhere: Path, planted: str) -> None:
    if planted == "open to others":
        nowhere.mkdir(mode=0o700)
        nowhere.chmod(0o777)
    elif planted == "a link":
        (nowhere.parent / "elsewhere").mkdir(mode=0o700)
        nowhere.symlink_to(nowhere.parent / "elsewhere")
    else:
        nowhere.write_text("")
    assert kernels.cache_of(sample) is None
