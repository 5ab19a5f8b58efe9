"""`demo:en-es`: the bundled demonstration model, run by CTranslate2; `demo:en-es?beam_size=1` takes its options.

It knows only the sentences of its own grammar, and its gender bias was put in on purpose (`docs/demo-model.md`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import gendermark
from gendermark.errors import UnknownName
from gendermark.records import Task
from gendermark.systems.system import System, split_options, with_options

TASKS = frozenset({Task.TRANSLATE, Task.SAMPLE, Task.SCORE})
FASTER = {"compute_type": ("float32", "int8"), "beam_size": ("5", "1")}
"""As CTranslate2's, which this module does not load before it is needed."""
MODELS = Path(gendermark.__file__).parent / "models" / "bundled"
PAIRS = ("en-es",)


def open_system(argument: str, options: Mapping[str, str]) -> System:
    from gendermark.systems.ctranslate2 import CTranslate2

    pair, options = split_options(argument, options)
    if pair not in PAIRS:
        raise UnknownName("demonstration model", pair, PAIRS)
    return CTranslate2(str(MODELS / pair), options, with_options(f"demo:{pair}", options))
