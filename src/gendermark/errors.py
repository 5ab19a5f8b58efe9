"""User errors, each one sentence: what is wrong, where, and what would work.

Any `UserError` reaches the user as that sentence with exit code 2, never as a traceback.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from pathlib import Path


def first_line(problem: BaseException) -> str:
    """The message of another library's error, for one of ours."""
    return str(problem).strip().partition("\n")[0] or type(problem).__name__


class UserError(Exception):
    """A mistake that the user can fix."""

    exit_code = 2

    def _render_traceback_(self) -> list[str]:
        """Show the sentence in a notebook, after the traceback of a function of the user."""
        from traceback import format_exception

        cause = format_exception(self.__cause__) if self.__cause__ else []
        return [*cause, f"{type(self).__name__}: {self}"]


_STARTS_WITH_VERB = re.compile(
    r"(?:is|was|has|cannot|does|must|contains|names|lists|unpacks|holds|lacks|mentions|points|belongs)\b"
)


class BadFile(UserError):
    """A file with invalid content; names the file and, if known, the line."""

    def __init__(self, path: Path | str, problem: str, *, line: int | None = None) -> None:
        where = f"{path}, line {line}:" if line is not None else f"{path}"
        super().__init__(f"{where}{'' if line is not None or _STARTS_WITH_VERB.match(problem) else ':'} {problem}")
        self.path, self.problem, self.line = path, problem, line


class NotUtf8(BadFile):
    """A text file in another encoding."""


class UnmatchedSources(BadFile):
    """A file of translations whose sources are not the expected sentences."""


class UnknownName(UserError):
    """An unregistered name; lists the registered ones, and the likely intended one."""

    def __init__(self, kind: str, name: str, known: Iterable[str], verb: str = "unknown") -> None:
        names = sorted(known)
        by_lower = {one.lower(): one for one in names}
        close = difflib.get_close_matches(str(name).lower(), by_lower, n=1)
        guess = f" (did you mean {by_lower[close[0]]!r}?)" if close else ""
        super().__init__(f"{verb} {kind} {name!r}{guess}; available: {', '.join(names) or 'none'}")


class UnknownKey(UserError, KeyError):
    """`result[...]` has no estimate, table or benchmark of that name."""

    __str__ = Exception.__str__  # KeyError quotes it


class MissingExtra(UserError):
    """A missing optional package; gives the exact install command."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional package; install it with: pip install 'gendermark[{extra}]'")


class DataUnavailable(UserError):
    """Official data that is neither cached nor reachable."""


class SystemFailure(UserError):
    """A translation system that died, timed out or returned something other than translations."""
