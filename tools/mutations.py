"""Mutations: every small error that could be made in a module, one at a time.

A mutant is one changed expression or statement of a module's syntax tree. What only speaks to
people (messages, names, annotations, assertions for the type checker) is left alone.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

Identity: TypeAlias = tuple[str, str, str, str]
Place: TypeAlias = tuple[ast.AST, str, int | None]

COMPARISONS: dict[type[ast.cmpop], list[ast.cmpop]] = {
    ast.Lt: [ast.LtE(), ast.GtE()],
    ast.LtE: [ast.Lt(), ast.Gt()],
    ast.Gt: [ast.GtE(), ast.LtE()],
    ast.GtE: [ast.Gt(), ast.Lt()],
    ast.Eq: [ast.NotEq()],
    ast.NotEq: [ast.Eq()],
    ast.Is: [ast.IsNot()],
    ast.IsNot: [ast.Is()],
    ast.In: [ast.NotIn()],
    ast.NotIn: [ast.In()],
}
OPERATORS: dict[type[ast.operator], list[ast.operator]] = {
    ast.Add: [ast.Sub()],
    ast.Sub: [ast.Add()],
    ast.Mult: [ast.Div(), ast.Add()],
    ast.Div: [ast.Mult(), ast.FloorDiv()],
    ast.FloorDiv: [ast.Mult(), ast.Div()],
    ast.Mod: [ast.FloorDiv()],
    ast.Pow: [ast.Mult()],
    ast.LShift: [ast.RShift()],
    ast.RShift: [ast.LShift()],
    ast.BitOr: [ast.BitAnd()],
    ast.BitAnd: [ast.BitOr()],
    ast.BitXor: [ast.BitOr()],
    ast.MatMult: [ast.Mult()],
}
OPPOSITES = {
    "min": "max",
    "ceil": "floor",
    "any": "all",
    "exp": "expm1",
    "log1p": "log",
    "minimum": "maximum",
    "ones": "zeros",
    "left": "right",
    "first": "last",
}
OPPOSITES |= {second: first for first, second in OPPOSITES.items()}
DROPPED_CALLS = {"abs", "sorted", "round", "rint", "sqrt", "reversed", "cumsum", "diff"}
LONGEST_TEXT = 90
TOLD = (ast.Assert, ast.JoinedStr, ast.Import, ast.ImportFrom)  # nothing inside is mutated


@dataclass(frozen=True)
class Around:
    """What is around a change.

    Attributes:
        scope: the classes and functions, outermost first.
        statement: of the module, or of a class, in which it stands.
        in_body: whether it is in the body of a function, which is run when that is called.
    """

    scope: tuple[ast.ClassDef | ast.FunctionDef, ...] = ()
    statement: ast.AST | None = None
    in_body: bool = False

    def within(self, node: ast.AST, field: str, child: ast.AST) -> Around:
        """What is around a child of a node."""
        scope, outside = self.scope, not self.in_body
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            scope = (*scope, node)
        in_body = self.in_body or (isinstance(node, ast.FunctionDef) and field == "body")
        statement = child if outside and isinstance(child, ast.stmt) else self.statement
        return Around(scope, statement, in_body)


@dataclass(frozen=True)
class Mutant:
    """One change of one module.

    Attributes:
        module: the file, from the package on, such as `noise/laws.py`.
        around: the classes and functions around the change.
        line: the first line of what is changed, as it stands.
        change: what is written instead of what; and the number, if that can be done to the
            line more than once.
        place: where in the tree: a node, its field, and the index if that is a list.
        new: what stands there instead.
    """

    module: str
    around: Around
    line: str
    change: str
    place: Place
    new: ast.AST

    @property
    def where(self) -> str:
        """The dotted name of the function or class."""
        return ".".join(part.name for part in self.around.scope)

    @property
    def function(self) -> str:
        """The dotted name of the outermost function; empty outside of any."""
        scope = self.around.scope
        depth = next((n for n, part in enumerate(scope) if isinstance(part, ast.FunctionDef)), -1)
        return ".".join(part.name for part in scope[: depth + 1])

    @property
    def identity(self) -> Identity:
        """What is known of it in a list, which survives that other lines come and go."""
        return (self.module, self.where, self.line, self.change)

    def __str__(self) -> str:
        return f"{self.module}: {self.where}: {self.line}\n      {self.change}"

    def plant(self) -> None:
        """Change the tree; never undone, since each mutant lives in a process of its own."""
        node, field, index = self.place
        if index is None:
            setattr(node, field, self.new)
        else:
            getattr(node, field)[index] = self.new


def mutants_of(path: Path, module: str) -> tuple[ast.Module, list[Mutant]]:
    """The tree of a file, and every mutant of it, in the order of the lines."""
    source = path.read_text(encoding="utf-8")
    tree, lines = ast.parse(source), source.splitlines()
    seen: Counter[Identity] = Counter()
    found = []
    for place, around, old in _places(tree, Around()):
        for new in [*_variants(old), *_negations(place, old)]:
            line = lines[old.lineno - 1].strip()  # type: ignore[attr-defined]
            change = f"{_said(old)} → {_said(new)}"
            ast.fix_missing_locations(ast.copy_location(new, old))
            mutant = Mutant(module, around, line, change, place, new)
            seen[mutant.identity] += 1
            again = seen[mutant.identity]
            found.append(
                replace(mutant, change=f"{change} (number {again})") if again > 1 else mutant
            )
    return tree, found


def _said(node: ast.AST) -> str:
    """A node as it would be written, on one line that is not too long."""
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"


def _places(node: ast.AST, around: Around) -> Iterator[tuple[Place, Around, ast.AST]]:
    """Every node that could be changed, with the place where it stands and what is around it."""
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list"):
            continue
        for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if not isinstance(child, ast.AST) or isinstance(child, TOLD) or _is_left_alone(child):
                continue
            inner = around.within(node, field, child)
            yield (node, field, index), inner, child
            if not isinstance(child, ast.Raise):  # what it says is for people
                yield from _places(child, inner)


def _variants(node: ast.AST) -> Iterator[ast.AST]:
    """Everything that may stand instead of a node."""
    match node:
        case ast.Compare() | ast.BinOp() | ast.BoolOp() | ast.UnaryOp() | ast.AugAssign():
            yield from _other_operators(node)
        case ast.Constant():
            yield from _other_constants(node)
        case ast.Call():
            yield from _other_calls(node)
        case ast.Slice():
            set_bounds = [name for name in ("lower", "upper", "step") if getattr(node, name)]
            yield from (_with(node, bound, None) for bound in set_bounds)
        case ast.DictComp() | ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
            yield from _unfiltered(node)
        case ast.stmt():
            yield from _other_statements(node)


def _other_statements(node: ast.stmt) -> Iterator[ast.AST]:
    """Nothing returned, nothing raised, nothing done, a loop that ends otherwise."""
    match node:
        case ast.Return() if node.value is not None and not _is_none(node.value):
            yield ast.Return(ast.Constant(None))
        case ast.Raise() | ast.Expr(value=ast.Call()):
            yield ast.Pass()
        case ast.Break():
            yield ast.Continue()
        case ast.Continue():
            yield ast.Break()


def _unfiltered(
    node: ast.DictComp | ast.ListComp | ast.SetComp | ast.GeneratorExp,
) -> Iterator[ast.AST]:
    """The same without what is left out."""
    for number, generator in enumerate(node.generators):
        if generator.ifs:
            other = deepcopy(node)
            other.generators[number].ifs = []
            yield other


def _negations(place: Place, node: ast.AST) -> Iterator[ast.AST]:
    """The opposite of a condition, unless another operator says it already."""
    said = isinstance(node, ast.Compare) and len(node.ops) == 1
    if place[1] == "test" and not said and not isinstance(node, ast.UnaryOp):
        yield ast.UnaryOp(ast.Not(), deepcopy(node))  # type: ignore[arg-type]


def _other_operators(node: ast.AST) -> Iterator[ast.AST]:
    """Another operator; a minus or a not that is left out."""
    match node:
        case ast.Compare():
            for index, operator in enumerate(node.ops):
                for other in COMPARISONS[type(operator)]:
                    yield _with(node, "ops", [*node.ops[:index], other, *node.ops[index + 1 :]])
        case ast.BoolOp():
            yield _with(node, "op", ast.And() if isinstance(node.op, ast.Or) else ast.Or())
        case ast.UnaryOp():
            yield deepcopy(node.operand)
        case ast.BinOp() | ast.AugAssign():
            texts = [part for part in ast.walk(node) if isinstance(part, ast.JoinedStr)]
            if not texts and not any(map(_is_text, ast.iter_child_nodes(node))):
                yield from (_with(node, "op", each) for each in OPERATORS[type(node.op)])


def _other_constants(node: ast.Constant) -> Iterator[ast.AST]:
    """A number beside it, the other truth value, the other side."""
    value = node.value
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, int):
        yield from (ast.Constant(value + 1), ast.Constant(value - 1))
    elif isinstance(value, float):
        others = (value * 2, value / 2) if value else (1.0, -1.0)
        yield from map(ast.Constant, others)
    elif isinstance(value, str) and value in OPPOSITES:
        yield ast.Constant(OPPOSITES[value])


def _other_calls(node: ast.Call) -> Iterator[ast.AST]:
    """The opposite function, the bare argument, one named argument less."""
    match node.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            if name in OPPOSITES:
                field = "id" if isinstance(node.func, ast.Name) else "attr"
                yield _with(node, "func", _with(node.func, field, OPPOSITES[name]))
            if name in DROPPED_CALLS and len(node.args) == 1:
                yield deepcopy(node.args[0])
    for index, keyword in enumerate(node.keywords):
        if keyword.arg not in (None, "strict"):
            yield _with(node, "keywords", node.keywords[:index] + node.keywords[index + 1 :])


def _with(node: ast.AST, field: str, value: object) -> ast.AST:
    """A copy of a node with another value in one field."""
    other = deepcopy(node)
    setattr(other, field, deepcopy(value))
    return other


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_left_alone(node: ast.AST) -> bool:
    """Whether it is for type checkers, for `dataclass`, or an assertion."""
    match node:
        case ast.AnnAssign(annotation=ast.Name(id="TypeAlias")):
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.Assign(value=ast.Call(func=ast.Name(id="TypeVar"))):
            return True
        case ast.Assign(targets=[_, _, *_]):
            return True  # a name and how it is written, read when the class is entered
        case ast.AnnAssign(value=ast.Call(func=ast.Name(id="field"))):
            return True  # read once, by `dataclass`, when the module is imported
        case ast.keyword(arg="strict"):
            return True  # an assertion that both are as long
    return False
