"""The functions of `import gendermark` as people call them: a mistake is answered in one sentence, in Python's words.

The command line calls the same functions as they stand in `api.py`, and says the same sentences with its own flags.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import wraps
from typing import Any

from gendermark.errors import UnknownName, UserError

_KINDS: dict[str, tuple[Any, str]] = {
    "str": (str, "a text"),
    "int": (int, "a whole number"),
    "float": ((int, float), "a number"),
    "bool": (bool, "True or False"),
    "Mapping": (Mapping, "a mapping"),
    "Sequence": (Sequence, "a list"),
    "None": (type(None), "None"),
}
_FLAG = re.compile(r"--([a-z][a-z-]*)(?:(?P<subject>(?= (?:takes|is|are|must|goes|scores)\b))|(?P<value>[ =](?=\w))|)")
"""A flag that is the subject of a sentence, or followed by its value, or neither."""
_CHECKED_INSIDE = {"Any", "Translations", "Results", "Translate", "Scorer"}
"""Kinds of arguments whose functions say themselves what would work."""


def public(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of the package `gendermark`, which refuses arguments of a wrong kind and shows no frames of ours."""
    signature = inspect.signature(function)

    @wraps(function)
    def called(*args: Any, **options: Any) -> Any:
        try:
            try:
                given = signature.bind(*args, **options).arguments
            except TypeError as problem:
                takes = ", ".join(signature.parameters)
                raise UserError(f"{function.__name__}: {problem}; it takes {takes}") from None
            for name, value in given.items():
                _check_kind(function, signature.parameters[name], value)
            _refuse_mistyped(function, given.get("options", ()), signature.parameters)
            return function(*args, **options)
        except UserError as problem:
            problem.args = (_with_keywords(str(problem), signature.parameters),)
            raise problem.with_traceback(None)  # noqa: B904 (it keeps its own cause)

    called.__module__ = "gendermark"  # where it is found again, after pickling
    return called


def _check_kind(function: Callable[..., Any], parameter: inspect.Parameter, value: Any) -> None:
    """Refuse a value that is none of the kinds of an annotation such as `Mapping[str, float] | None`."""
    annotation, inner = str(parameter.annotation), ""
    while annotation != inner:  # what is between brackets is left to the function
        annotation, inner = re.sub(r"\[[^\[\]]*\]", "", annotation), annotation
    kinds = annotation.split(" | ")
    if parameter.kind is parameter.VAR_KEYWORD or _CHECKED_INSIDE.intersection(kinds):
        return
    classes = {one.__name__ for one in type(value).__mro__}
    fits = any(isinstance(value, _KINDS[kind][0]) if kind in _KINDS else kind in classes for kind in kinds)
    if not fits or (isinstance(value, str) and "str" not in kinds):  # a text is a sequence, too
        *others, last = (_KINDS[kind][1] if kind in _KINDS else f"a {kind}" for kind in kinds if kind != "None")
        wanted = f"{', '.join(others)} or {last}" if others else last
        meaning = re.search(rf"^ +{parameter.name}: ([^;\n]+?)[;.](?:\s|$)", function.__doc__ or "", re.MULTILINE)
        about = f" ({meaning[1]})" if meaning else ""
        raise UserError(f"{parameter.name} must be {wanted}{about}, not {value!r:.60}")


def _refuse_mistyped(function: Callable[..., Any], options: Iterable[str], parameters: Iterable[str]) -> None:
    """Refuse an option that no benchmark has, if it is nearly the name of an argument."""
    from gendermark.selection import Selection, all_options

    known = [name for name in parameters if name != "options"]
    for name in options:
        is_near = name not in Selection.__dataclass_fields__ and get_close_matches(name, known)
        if is_near and not any(name in own for own in all_options().values()):
            raise UnknownName(f"argument of {function.__name__}", name, known)


def _with_keywords(sentence: str, parameters: Mapping[str, inspect.Parameter]) -> str:
    """A sentence with `to=es` in place of `--to es`, where the function has such a keyword."""
    from gendermark.selection import all_options

    known = set(parameters)
    if "--" in sentence and "options" in known:
        known = known.union(*all_options().values())

    def keyword(flag: re.Match[str]) -> str:
        name = flag[1].replace("-", "_")
        if name not in known:
            return flag[0]
        if name in parameters and parameters[name].default is False:
            return f"{name}=True{flag['value'] or ''}"
        return name if flag["subject"] is not None else f"{name}="

    return _FLAG.sub(keyword, sentence)
