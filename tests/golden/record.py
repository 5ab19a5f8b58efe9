"""Record the translations that the golden outputs are scored from: `python tests/golden/record.py`.

They are recorded once and kept, because the bundled model's int8 output differs between processors. `mixed` is a fake
system that follows stereotypes in part, with a few empty and copied lines; `demo` is the bundled model into Spanish.
"""

from __future__ import annotations

import gzip
import json
import tempfile
from pathlib import Path

from gendermark import registry
from gendermark.cli.app import main

STORED = Path(__file__).parent / "translations"
N_SAMPLES = 4


def _every(number: int, step: int) -> bool:
    return number % step == step - 1


def _run(directory: Path, system: str, benchmark: str, source: str, target: str) -> None:
    samples = ["--n-samples", str(N_SAMPLES)] if registry.load("benchmark", benchmark).draws else []
    line = ["run", "--system", system, "--benchmark", benchmark, "--from", source, "--to", target]
    try:
        main([*line, "--data", "core", "-o", str(directory), "--store", str(directory.parent / "store"), *samples])
    except SystemExit as end:
        if end.code:
            raise RuntimeError(f"{system} {benchmark} {target}") from end


def _store(directory: Path, system: str, *, with_accidents: bool) -> None:
    for cell in (path for path in directory.iterdir() if path.is_dir()):
        if (cell / "samples.jsonl").exists():
            name, text = f"{cell.name}.jsonl", (cell / "samples.jsonl").read_text(encoding="utf-8")
        else:
            rows = [json.loads(line) for line in (cell / "translations.jsonl").read_text(encoding="utf-8").splitlines()]
            lines = [" ".join((row["translation"] or "").split()) for row in rows]
            if with_accidents:
                lines = [
                    "" if _every(n, 41) else " ".join(row["source"].split()) if _every(n, 43) else line
                    for n, (row, line) in enumerate(zip(rows, lines, strict=True))
                ]
            name, text = f"{cell.name}.txt", "".join(f"{line}\n" for line in lines)
        path = STORED / system / f"{name}.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(text.encode(), mtime=0))


def record() -> None:
    for benchmark in registry.names("benchmark"):
        for source, target in registry.load("benchmark", benchmark).language_pairs("core"):
            wanted = [("mixed", "fake:stereotyped?s=0.6")]
            if (source, target) == ("en", "es"):
                wanted.append(("demo", "demo:en-es"))
            for name, spec in wanted:
                if name == "demo" and benchmark in ("gate-alternatives", "gate-rewriting"):
                    continue  # it offers one translation and rewrites nothing
                with tempfile.TemporaryDirectory() as scratch:
                    _run(Path(scratch) / "run", spec, benchmark, source, target)
                    _store(Path(scratch) / "run", name, with_accidents=name == "mixed")


if __name__ == "__main__":
    record()
