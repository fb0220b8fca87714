"""The parameters of a kernel: what its signature and its decorator say about each."""

from __future__ import annotations

import inspect
import types
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Parameter", "parameters_of"]


@dataclass(frozen=True)
class Parameter:
    """One parameter of a kernel.

    Attributes:
        name: as in the function.
        annotation: the annotation as written or evaluated; None where there is none.
        default: the default value; meaningless unless `has_default`.
        has_default: whether there is a default.
        is_constexpr: whether it is annotated `tl.constexpr`.
        do_not_specialize: whether facts about its value stay out of the specialization.
        do_not_specialize_on_alignment: the same for alignment and divisibility by 16 alone.
        keyword_only: whether it stands behind a `*`.
        positional_only: whether it stands before a `/`.
    """

    name: str
    annotation: object = None
    default: object = None
    has_default: bool = False
    is_constexpr: bool = False
    do_not_specialize: bool = False
    do_not_specialize_on_alignment: bool = False
    keyword_only: bool = False
    positional_only: bool = False


def is_constexpr_annotation(annotation: object) -> bool:
    """Whether an annotation, evaluated or as text, is `tl.constexpr`."""
    if isinstance(annotation, str):
        # Quoted once more where a quoted annotation meets `from __future__ import annotations`.
        return annotation.strip(" \"'").rsplit(".", 1)[-1] == "constexpr"
    return getattr(annotation, "__name__", None) == "constexpr"


def parameters_of(
    function: types.FunctionType,
    do_not_specialize: Sequence[str | int],
    do_not_specialize_on_alignment: Sequence[str | int],
) -> list[Parameter]:
    """The function's parameters with what the decorator said about them."""
    signature = inspect.signature(function)
    names = list(signature.parameters)
    plain = named_parameters(function.__name__, "do_not_specialize", names, do_not_specialize)
    alignment = named_parameters(
        function.__name__,
        "do_not_specialize_on_alignment",
        names,
        do_not_specialize_on_alignment,
    )
    result = []
    for name, parameter in signature.parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            stars = "*" if parameter.kind is parameter.VAR_POSITIONAL else "**"
            raise TypeError(
                f"`{function.__name__}` takes {stars}{name}: a kernel's parameters are named"
            )
        has_annotation = parameter.annotation is not parameter.empty
        has_default = parameter.default is not parameter.empty
        result.append(
            Parameter(
                name=name,
                annotation=parameter.annotation if has_annotation else None,
                default=parameter.default if has_default else None,
                has_default=has_default,
                is_constexpr=is_constexpr_annotation(parameter.annotation),
                do_not_specialize=name in plain,
                do_not_specialize_on_alignment=name in alignment,
                keyword_only=parameter.kind is parameter.KEYWORD_ONLY,
                positional_only=parameter.kind is parameter.POSITIONAL_ONLY,
            )
        )
    return result


def named_parameters(
    kernel: str, option: str, names: list[str], chosen: Sequence[str | int]
) -> set[str]:
    """The names that a decorator option lists, given by name or by position."""
    if isinstance(chosen, str):
        raise TypeError(f"{option} takes a list of names, not the string {chosen!r}")
    result = set()
    for item in chosen:
        name = names[item] if isinstance(item, int) and item < len(names) else item
        if name not in names:
            raise ValueError(f"{option} names {item!r}, which is no parameter of `{kernel}`")
        result.add(str(name))
    return result
