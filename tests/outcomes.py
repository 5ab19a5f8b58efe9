"""What a command gave: its exit code, and what it printed."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from typing import Any

import pytest


@dataclass(frozen=True)
class Outcome:
    exit_code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What was printed, as strict JSON: a NaN in it is an error."""
        return json.loads(self.out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))

    @property
    def rows(self) -> list[dict[str, str]]:
        """What was printed, as a tab-separated table with a header."""
        rows = list(csv.DictReader(io.StringIO(self.out), delimiter="\t", quoting=csv.QUOTE_NONE))
        assert all(None not in row and None not in row.values() for row in rows), "a row is longer or shorter"
        return rows

    def is_refusal(self, *words: str) -> None:
        """Exit code 2, nothing on stdout, and exactly one sentence, with these words in it."""
        assert "Traceback" not in self.err
        assert self.exit_code == 2, self
        assert self.out == ""
        assert self.err.startswith("error: ")
        assert self.err.endswith("\n")
        assert len(self.err.splitlines()) == 1, self.err
        for word in words:
            assert word in self.err, f"{word!r} is missing in {self.err!r}"
