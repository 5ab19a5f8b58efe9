"""Draws docs/pictures/tgbi-google.svg: what Google Translate made of Korea's neutral pronouns in 2019.

    python docs/pictures/tgbi_google.py

Reads the outputs that the authors of TGBI released (fetched like all official data; `GENDERMARK_DATA_MIRROR` works).
"""

from __future__ import annotations

from pathlib import Path

import gendermark
from gendermark.benchmarks.tgbi import SETS
from gendermark.data import official_files

SHORT = dict(zip(SETS, ("inf", "f", "imp", "p", "neg", "pos", "job"), strict=True))
# Readable in grey and by colour-blind people: dark, light, hatched-free middle.
COLOURS = {"p_m": "#1b3a57", "p_w": "#e08e45", "p_n": "#8fbf9f"}
LABELS = {"p_m": "he", "p_w": "she", "p_n": "left open"}
LEFT, WIDTH, ROW, TOP = 110, 380, 30, 74


def main() -> None:
    outputs = official_files("tgbi", "released", group="outputs")
    files = {name: outputs.path(f"gebnlp-tgbi/corpus/total_google_{short}.txt") for name, short in SHORT.items()}
    result = gendermark.score("tgbi", files, "en", rules="best")
    path = Path(__file__).with_name("tgbi-google.svg")
    path.write_text(draw(result), encoding="utf-8")


def draw(result: gendermark.Result) -> str:
    parts = [
        text(16, 26, "Google Translate (2019), Korean to English: who is that person?", size=15, weight="bold"),
        text(16, 46, "Every source sentence leaves gender open. TGBI " + span(result, "tgbi", "all"), size=12),
    ]
    for position, name in enumerate(SETS):
        y = TOP + ROW * position
        parts.append(text(LEFT - 10, y + 14, name, anchor="end"))
        x = float(LEFT)
        for metric, colour in COLOURS.items():
            value = result.estimate(metric, name).value or 0.0
            parts.append(f'<rect x="{x:.1f}" y="{y}" width="{WIDTH * value:.1f}" height="20" fill="{colour}"/>')
            x += WIDTH * value
        parts.append(text(LEFT + WIDTH + 12, y + 14, "P_S " + span(result, "p_s", name)))
    x, y = LEFT, TOP + ROW * len(SETS) + 16
    for metric, colour in COLOURS.items():
        parts.append(f'<rect x="{x}" y="{y - 10}" width="12" height="12" fill="{colour}"/>')
        parts.append(text(x + 18, y, LABELS[metric]))
        x += 90
    height = y + 18
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="700" height="{height}" viewBox="0 0 700 {height}" '
        f'font-family="Helvetica, Arial, sans-serif">\n<rect width="700" height="{height}" fill="white"/>\n'
        f"{body}\n</svg>\n"
    )


def span(result: gendermark.Result, metric: str, part: str) -> str:
    estimate = result.estimate(metric, part)
    return f"{estimate.value:.3f} [{estimate.low:.3f}, {estimate.high:.3f}]"


def text(x: float, y: float, words: str, *, size: int = 12, anchor: str = "start", weight: str = "normal") -> str:
    style = f'font-size="{size}" text-anchor="{anchor}" font-weight="{weight}" fill="#222"'
    return f'<text x="{x}" y="{y}" {style}>{words}</text>'


if __name__ == "__main__":
    main()
