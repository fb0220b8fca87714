"""Makes a kernel's variables run-time values where the compiler does.

A Python number that a loop or a run-time `if` assigns has a type afterwards: `total = 0.0` before a
loop that adds to it is a float32. Python knows no such moment, so the function is compiled again
with `total = carry(total)` before loops and after branches. Names, lines and columns stay, so
`pdb` and tracebacks show the user's own text.
"""

import ast
import types
import weakref
from collections.abc import Callable, Iterable
from typing import Any

from enceladus._source import source_of

CARRY = "__enceladus_carry"
RUN_TIME = "__enceladus_run_time"
_KEPT = "__enceladus_kept"
# The text of a function never changes, its globals may: only the code is kept.
_CODES: weakref.WeakKeyDictionary[types.FunctionType, types.CodeType] = weakref.WeakKeyDictionary()


def rewritten(function: types.FunctionType, scope: dict[str, Any]) -> types.FunctionType:
    """The function compiled with its carries, over other globals.

    Args:
        function: the function; its defaults and closure are kept.
        scope: the globals to run over; has CARRY and RUN_TIME.

    Raises:
        OSError: the function's source cannot be had.
    """
    code = _CODES.get(function)
    if code is None:
        code = _CODES[function] = _carrying_code(function)
    copy = types.FunctionType(
        code, scope, function.__name__, function.__defaults__, _cells(function, code)
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


def _carrying_code(function: types.FunctionType) -> types.CodeType:
    source = source_of(function)
    module = ast.parse(source.text)
    definition = next(
        node
        for node in ast.walk(module)
        if isinstance(node, ast.FunctionDef) and node.name == function.__name__
    )
    definition.decorator_list = []
    definition.body = _Carries().block(definition.body)
    for node in ast.walk(definition):
        _move(node, source.first_line - 1, source.indent)
    return _compiled(definition, source.filename, function.__code__.co_freevars)


def _move(node: ast.AST, lines: int, columns: int) -> None:
    """Shifts a node from its place in the dedented text to its place in the file."""
    if isinstance(node, (ast.expr, ast.stmt, ast.arg, ast.keyword, ast.excepthandler)):
        node.lineno += lines
        node.end_lineno = (node.end_lineno or node.lineno - lines) + lines
        node.col_offset += columns
        node.end_col_offset = (node.end_col_offset or 0) + columns


def _compiled(definition: ast.FunctionDef, filename: str, free: tuple[str, ...]) -> types.CodeType:
    """The code of a function that stands inside one which owns the names it closes over."""
    owner = ast.parse("def owner(): pass").body[0]
    assert isinstance(owner, ast.FunctionDef)
    owner.args.args = [ast.arg(name) for name in free]
    owner.body = [definition]
    module = ast.fix_missing_locations(ast.Module([owner], []))
    code = compile(module, filename, "exec", dont_inherit=True)
    for name in ("owner", definition.name):
        code = next(
            constant
            for constant in code.co_consts
            if isinstance(constant, types.CodeType) and constant.co_name == name
        )
    return code


def _cells(function: types.FunctionType, code: types.CodeType) -> tuple[Any, ...]:
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    return tuple(cells[name] for name in code.co_freevars)


class _Carries:
    """Inserts the carries into a list of statements; one object a function."""

    def __init__(self) -> None:
        self._places = 0

    def block(self, statements: Iterable[ast.stmt]) -> list[ast.stmt]:
        """The statements with carries, inner blocks first."""
        return [new for statement in statements for new in self._statement(statement)]

    def _statement(self, statement: ast.stmt) -> list[ast.stmt]:
        names = _assigned([statement])
        for field in ("body", "orelse"):
            if isinstance(getattr(statement, field, None), list):
                setattr(statement, field, self.block(getattr(statement, field)))
        if not names:
            return [statement]
        self._places += 1
        if isinstance(statement, ast.While) or _is_run_time_for(statement):
            return self._loop(statement, names)
        if isinstance(statement, ast.If):
            return self._branch(statement, names)
        return [statement]

    def _loop(self, statement: ast.stmt, names: list[str]) -> list[ast.stmt]:
        """Carries before the loop; what an iteration assigns takes the type from before it."""
        assert isinstance(statement, (ast.For, ast.While))
        before = _each(names, statement, lambda name: _call(name, CARRY, name))
        keep = _each(names, statement, lambda name: _assign(self._kept(name), _load(name)))
        again = _each(names, statement, self._carry_like)
        after = _each(names, statement, self._carry_like)
        statement.body = [*again, *statement.body]
        return [*before, *keep, statement, *after]

    def _branch(self, statement: ast.If, names: list[str]) -> list[ast.stmt]:
        """Keeps the condition, and carries after the branches when it is a run-time value."""
        test = f"{_KEPT}_{self._places}"
        before = _each(names, statement, lambda name: _assign(self._kept(name), _load(name)))
        before.append(_placed(_assign(test, statement.test), statement))
        asks = ast.Call(_load(RUN_TIME), [_load(test)], [])
        after = ast.If(asks, _each(names, statement, self._carry_like), [])
        statement.test = ast.copy_location(_load(test), statement.test)
        return [*before, statement, _placed(after, statement)]

    def _kept(self, name: str) -> str:
        """The variable that keeps what another one was before this loop or branch."""
        return f"{_KEPT}_{self._places}_{name}"

    def _carry_like(self, name: str) -> ast.stmt:
        return _call(name, CARRY, name, self._kept(name))


def _is_run_time_for(statement: ast.stmt) -> bool:
    """Whether this loops over `range` or `tl.range`, and not over something compile-time."""
    if not isinstance(statement, ast.For) or not isinstance(statement.iter, ast.Call):
        return False
    called = statement.iter.func
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return name == "range"


def _assigned(statements: Iterable[ast.stmt]) -> list[str]:
    """The local names that statements assign, each once."""
    names = {
        node.id: None
        for statement in statements
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    return [name for name in names if not name.startswith(_KEPT)]


def _load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _assign(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], value)


def _call(target: str, function: str, *arguments: str) -> ast.stmt:
    """`target = function(arguments)`."""
    call = ast.Call(_load(function), [_load(argument) for argument in arguments], [])
    return _assign(target, call)


def _each(names: list[str], place: ast.stmt, make: Callable[[str], ast.stmt]) -> list[ast.stmt]:
    """A statement for each name, skipped where a name has no value yet."""
    return [
        _placed(
            ast.Try(
                [make(name)], [ast.ExceptHandler(_load("NameError"), None, [ast.Pass()])], [], []
            ),
            place,
        )
        for name in names
    ]


def _placed(new: ast.stmt, place: ast.stmt) -> ast.stmt:
    """Gives new nodes, but not the user's own within them, the first line of a statement."""
    for node in ast.walk(new):
        if isinstance(node, (ast.expr, ast.stmt, ast.excepthandler)) and not hasattr(
            node, "lineno"
        ):
            node.lineno = node.end_lineno = place.lineno
            node.col_offset = node.end_col_offset = place.col_offset
    return new
