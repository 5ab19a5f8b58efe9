"""`demo:en-es`: the bundled demonstration model, run by CTranslate2; `demo:en-es?beam_size=1` takes its options.

It knows only the sentences of its own grammar, and its gender bias was put in on purpose (`docs/demo-model.md`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import gendermark
from gendermark.errors import UnknownName
from gendermark.records import Task
from gendermark.systems.system import System, merge_options

TASKS = frozenset({Task.TRANSLATE, Task.SAMPLE, Task.SCORE})
MODELS = Path(gendermark.__file__).parent / "models" / "bundled"
PAIRS = ("en-es",)


def open_system(argument: str, options: Mapping[str, str]) -> System:
    from gendermark.systems import ctranslate2

    pair, _, query = argument.partition("?")
    if pair not in PAIRS:
        raise UnknownName("demonstration model", pair, PAIRS)
    options = merge_options(query, options)
    # However they were given, its numbers depend on its options, so its name shows them.
    shown = "&".join(f"{key}={options[key]}" for key in sorted(options))
    return ctranslate2.open_system(str(MODELS / pair), options, f"demo:{pair}?{shown}" if shown else f"demo:{pair}")
