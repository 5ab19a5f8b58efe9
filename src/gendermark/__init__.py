"""gendermark measures gender bias in machine translation, with confidence intervals.

>>> import gendermark
>>> result = gendermark.score("simplegen", "translations.es.txt", to="es", data="core")  # doctest: +SKIP

- `score`, `run`: score translations, a system or a Python function; `audit`: files of any kind; `rejudge`: a stored run
- `compare`, `gate`, `report`: results or run folders; `load` reads a folder; `quality_gap`
- `items`, `select`: the sentences of a benchmark; `read_people`: the people in any text, and their gender

Public names are loaded on first use, so that importing the package is cheap.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

if TYPE_CHECKING:
    from gendermark.api import audit, compare, gate, items, load, quality_gap, rejudge, report, run, score, select
    from gendermark.errors import UserError
    from gendermark.metrics.metric import Resampling
    from gendermark.reading.reader import Person, read_people
    from gendermark.records import Estimate, Gender, Item, Judgement, Translation, Verdict
    from gendermark.result import Result
    from gendermark.selection import Selection

_HOME = {
    **dict.fromkeys(
        ("audit", "compare", "gate", "items", "load", "quality_gap", "rejudge", "report", "run", "score", "select"),
        "gendermark.api",
    ),
    **dict.fromkeys(("Person", "read_people"), "gendermark.reading.reader"),
    "Selection": "gendermark.selection",
    "UserError": "gendermark.errors",
    "Resampling": "gendermark.metrics.metric",
    **dict.fromkeys(("Estimate", "Gender", "Item", "Judgement", "Translation", "Verdict"), "gendermark.records"),
    "Result": "gendermark.result",
}

__all__ = [
    "Estimate",
    "Gender",
    "Item",
    "Judgement",
    "Person",
    "Resampling",
    "Result",
    "Selection",
    "Translation",
    "UserError",
    "Verdict",
    "__version__",
    "audit",
    "compare",
    "gate",
    "items",
    "load",
    "quality_gap",
    "read_people",
    "rejudge",
    "report",
    "run",
    "score",
    "select",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        # With these two, Python says which name was meant.
        raise AttributeError(f"module 'gendermark' has no attribute {name!r}", name=name, obj=sys.modules[__name__])
    value = getattr(import_module(_HOME[name]), name)
    if name.islower():  # a function
        value = import_module("gendermark.calls").public(value)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
