"""Lines and modules of each part, beside the budget of docs/design.md: `make size`."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "gendermark"
BUDGETS = {
    "(top level)": 2_000, "io": 2_000, "data": 1_000, "languages": 5_000, "reading": 3_500, "metrics": 2_400,
    "benchmarks": 8_500, "systems": 6_000, "runs": 3_800, "reporting": 4_500, "auditing": 1_000, "adapters": 1_200,
    "annotation": 1_400, "lab": 7_500, "cli": 2_200,
}  # fmt: skip
"""Parts that are not named here are still to be merged into one that is."""
MOST_LINES, MOST_MODULES, MOST_TEST_LINES, MOST_WORDS = 52_000, 270, 34_000, 32_000


def _lines(paths: list[Path]) -> int:
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)


def main() -> None:
    modules = sorted(SOURCE.rglob("*.py"))
    parts: dict[str, list[Path]] = {}
    for path in modules:
        inside = path.relative_to(SOURCE).parts
        parts.setdefault(inside[0] if len(inside) > 1 else "(top level)", []).append(path)
    print(f"{'part':<14}{'modules':>9}{'lines':>9}{'budget':>9}")
    for part in sorted({*parts, *BUDGETS}):
        found = parts.get(part, [])
        print(f"{part:<14}{len(found):>9,}{_lines(found):>9,}{BUDGETS.get(part, 0) or '-':>9}")
    words = sum(len(re.findall(r"\S+", path.read_text(encoding="utf-8"))) for path in (ROOT / "docs").rglob("*.md"))
    print(f"{'src':<14}{len(modules):>9,}{_lines(modules):>9,}{MOST_LINES:>9,}  (at most {MOST_MODULES} modules)")
    tests = sorted((ROOT / "tests").rglob("*.py"))
    print(f"{'tests':<14}{len(tests):>9,}{_lines(tests):>9,}{MOST_TEST_LINES:>9,}")
    print(f"{'docs, words':<14}{'':>9}{words:>9,}{MOST_WORDS:>9,}")


if __name__ == "__main__":
    main()
