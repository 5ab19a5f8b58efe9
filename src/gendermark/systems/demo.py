"""`demo:en-es`: the bundled models, run by CTranslate2; `demo:en-es?beam_size=1` takes its options.

`en-es` knows only the sentences of its own grammar, and its gender bias was put in on purpose; `en-es-general` also
learnt everyday sentences of Tatoeba (`docs/demo-model.md`).
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
MODELS = Path(gendermark.__file__).parent / "data" / "models"
NAMES = ("en-es", "en-es-general")


def open_system(argument: str, options: Mapping[str, str]) -> System:
    from gendermark.systems.ctranslate2 import CTranslate2

    name, options = split_options(argument, options)
    if name not in NAMES:
        raise UnknownName("demonstration model", name, NAMES)
    return CTranslate2(str(MODELS / name), options, with_options(f"demo:{name}", options))
