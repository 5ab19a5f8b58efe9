"""Show context to a system, and find the sentence in its answer.

- `none`: the sentence alone
- `joined`: context and sentence as one text; from the answer, the part after the sentence boundary nearest to the
expected position (a comma, if the sentences were merged)
- `separator:TEXT`: context, TEXT and sentence; from the answer, what follows the last TEXT
- `prompt`: an instruction that shows the context and asks for the sentence only, for chat models
"""

from __future__ import annotations

import re

from gendermark.errors import UserError

STRATEGIES = ("none", "joined", "separator", "prompt")
# Sentence-final marks with closing quotes; small models omit the space after a full stop.
_BOUNDARY = re.compile(r"[.!?…।؟。！？]++[\"'”’»)\]]*+\s*+(?=\S)")
# A single letter is one only at the start of a word: `\b` also matches after the vowel signs of Arabic and Hindi.
_ABBREVIATION = re.compile(r"(?:(?:^|[\s.(])\w|\b(?:Mr|Mrs|Ms|Dr|St|Sr|Sra|Jr|Prof|bzw|ca|Nr|vgl|etc))\.$", re.I)
_WEAK_BOUNDARY = re.compile(r"[,;:،؛–—]\s+(?=\S)")
_FARTHEST = 0.35
"""Maximum distance of a full stop, and of a comma, from its expected position, as a share of the text."""
_FARTHEST_COMMA = 0.1


def show(context: str, sentence: str, strategy: str) -> str:
    kind, _, argument = strategy.partition(":")
    if kind == "none" or not context:
        return sentence
    if kind == "joined":
        return f"{context} {sentence}"
    if kind == "separator":
        return f"{context} {_separator(argument)} {sentence}"
    return f"Context (do not translate): {context} Translate this sentence only: {sentence}"


def find(answer: str, context: str, sentence: str, strategy: str) -> str | None:
    """The translation of the sentence in a system's answer; None if it cannot be found."""
    kind, _, argument = strategy.partition(":")
    if kind in ("none", "prompt") or not context:
        return answer
    if kind == "separator":
        head, found, tail = answer.rpartition(_separator(argument).strip())
        return tail.strip() if found and head.strip() and tail.strip() else None
    expected = len(context) / (len(context) + len(sentence))
    full_stops = [
        match.end()
        for match in _BOUNDARY.finditer(answer)
        if not _ABBREVIATION.search(answer[: match.end()].rstrip()) and not _inside_number(answer, match)
    ]
    # Systems merge sentences: then a comma very near the expected position is the boundary.
    commas = [match.end() for match in _WEAK_BOUNDARY.finditer(answer)]
    for places, farthest in ((full_stops, _FARTHEST), (commas, _FARTHEST_COMMA)):
        best = min(places, key=lambda place: abs(place / len(answer) - expected), default=None)
        if best is not None and abs(best / len(answer) - expected) <= farthest:
            return answer[best:].strip()
    return None


def offset(found: str, answer: str) -> int:
    """Return the position in the answer where the translation found by `find` begins."""
    return 0 if found == answer else len(answer.rstrip()) - len(found)


def _inside_number(text: str, match: re.Match[str]) -> bool:
    around = text[match.start() - 1 : match.start()] + text[match.end() : match.end() + 1]
    return len(match.group()) == 1 and len(around) == 2 and around.isdigit()


def _separator(argument: str) -> str:
    if not argument.strip():
        raise UserError("a separator is written separator:TEXT, for example --context 'separator:<sep>'")
    return argument
