"""Planting: put a mutant in the place of the right code, in a process that has it loaded."""

from __future__ import annotations

import ast
import gc
import inspect
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import _lru_cache_wrapper
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from mutations import Mutant


@dataclass(frozen=True)
class Loaded:
    """A module as it is loaded.

    Attributes:
        path: its file.
        module: what was imported.
        functions: every function that was made from the file, decorated or not.
        caches: of functions of the whole package.
    """

    path: Path
    module: ModuleType
    functions: list[FunctionType]
    caches: list[_lru_cache_wrapper[Any]]


def plant(mutant: Mutant, tree: ast.Module, loaded: Loaded) -> None:
    """Let everything that was imported from the module behave as the mutant does."""
    mutant.plant()
    if mutant.around.in_body:
        codes = dict(code_objects(compile(tree, str(loaded.path), "exec")))
        for function in loaded.functions:
            code = codes[function.__code__.co_qualname, function.__code__.co_firstlineno]
            if code != function.__code__:  # which may use less of what is around it
                function.__code__ = code.replace(co_freevars=function.__code__.co_freevars)
    elif mutant.function:
        _set_defaults(mutant, loaded)
    else:
        _set_value(mutant, tree, loaded)
    for each in loaded.caches:
        each.cache_clear()


def functions_and_caches(
    folder: Path,
) -> tuple[dict[Path, list[FunctionType]], list[_lru_cache_wrapper[Any]]]:
    """Every loaded function of the files in a folder, by file, and every cache of one."""
    functions: dict[Path, list[FunctionType]] = defaultdict(list)
    caches = []
    for each in gc.get_objects():
        if type(each) is FunctionType and each.__code__.co_filename.startswith(str(folder)):
            functions[Path(each.__code__.co_filename)].append(each)
        elif type(each) is _lru_cache_wrapper and each.__module__.startswith(folder.name):
            caches.append(each)
    return functions, caches


def code_objects(code: CodeType) -> Iterator[tuple[tuple[str, int], CodeType]]:
    """Every function's code within a module's, by name and line."""
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield (each.co_qualname, each.co_firstlineno), each
            yield from code_objects(each)


def names_used(function: FunctionType) -> set[str]:
    """The global names that a function, or one inside it, looks up or has as a default."""
    given = set(map(id, function.__defaults__ or ()))
    constants = {name for name, value in function.__globals__.items() if id(value) in given}
    return constants | _names_in(function.__code__)


def _names_in(code: CodeType) -> set[str]:
    return set(code.co_names).union(*(_names_in(inner) for _, inner in code_objects(code)))


def assigned(statement: ast.AST | None) -> str:
    """The name that a statement gives a value to; empty if it does something else."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return name
    return ""


def _set_defaults(mutant: Mutant, loaded: Loaded) -> None:
    """Give a function the defaults of its changed definition."""
    definition = mutant.around.scope[-1]
    assert isinstance(definition, ast.FunctionDef)
    lines = {definition.lineno, *(each.lineno for each in definition.decorator_list)}
    for function in loaded.functions:
        if function.__code__.co_firstlineno in lines:
            values = [_value(each, loaded.module) for each in definition.args.defaults]
            function.__defaults__ = tuple(values) or None
            named = zip(definition.args.kwonlyargs, definition.args.kw_defaults, strict=True)
            function.__kwdefaults__ = {
                name.arg: _value(each, loaded.module) for name, each in named if each is not None
            }


def _set_value(mutant: Mutant, tree: ast.Module, loaded: Loaded) -> None:
    """Give a constant of the module, or of a class, its changed value."""
    statement, module = mutant.around.statement, loaded.module
    if mutant.around.scope:
        value = _value(_right_side(statement), module)
        _set_in_class(getattr(module, mutant.where), assigned(statement), value)
        return
    changed: set[str] = set()
    for each in tree.body:  # and whatever was computed from it
        name = assigned(each)
        if name and (each is statement or changed & _names(_right_side(each))):
            changed.add(name)
            _set_everywhere(loaded, name, _value(_right_side(each), module))


def _set_everywhere(loaded: Loaded, name: str, value: Any) -> None:
    """A constant of a module, also where it was imported and where it is a default."""
    old, package = vars(loaded.module)[name], loaded.module.__name__.split(".")[0]
    for function in loaded.functions:
        given = function.__defaults__ or ()
        function.__defaults__ = tuple(value if each is old else each for each in given) or None
    for other in [each for key, each in sys.modules.items() if key.startswith(package)]:
        if vars(other).get(name) is old:
            setattr(other, name, value)


def _right_side(statement: ast.AST | None) -> ast.expr:
    assert isinstance(statement, ast.Assign | ast.AnnAssign)
    assert statement.value is not None
    return statement.value


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def _set_in_class(owner: type, name: str, value: Any) -> None:
    """A class's constant, which may be what its dataclass takes if nothing is given."""
    setattr(owner, name, value)
    parameters = inspect.signature(owner).parameters if name in owner.__annotations__ else {}
    if name in parameters:
        given = [each for each in parameters.values() if each.default is not each.empty]
        owner.__init__.__defaults__ = tuple(  # type: ignore[misc]
            value if each.name == name else each.default for each in given
        )


def _value(expression: ast.expr, module: ModuleType) -> Any:
    return eval(compile(ast.Expression(expression), "mutant", "eval"), vars(module))
