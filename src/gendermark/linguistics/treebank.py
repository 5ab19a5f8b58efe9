"""Penn Treebank tokens of English, as far as the published TGBI rules can see them.

The released TGBI code asks whether one of nine short words is a token of the lower-cased line, where tokens are those
of NLTK's `word_tokenize`. This module cuts the same tokens: one contraction is taken off the end of a word,
punctuation stands alone, hyphens and slashes do not cut. A doubled contraction therefore stays in one piece:
"he's're" becomes "he's" and "'re", which is why "He's're quick-witted." counts as neutral in the paper.
"""

from __future__ import annotations

import re

from gendermark.linguistics.words import Span

_ALONE = re.compile(r"[;@#$%&?!()\[\]{}<>\"*“”«»…]|``|''|--|\.\.\.|,(?!\d)|:(?!\d)")
# A full stop ends a token at the end of the line and before a space; inside ("u.s", "3.5") it does not.
_FULL_STOP = re.compile(r"\.(?=[\"')\]}>”’]*(?:\s|$))")
# In this order, each once: the possessive and short verbs, then the longer ones.
_SHORT_CONTRACTION = re.compile(r"(?<=[^'])('s|'m|'d|')$")
_LONG_CONTRACTION = re.compile(r"(?<=[^'])('ll|'re|'ve|n't)$")


def token_spans(line: str) -> list[Span]:
    """Where the tokens of a line stand in it: they are all of its letters, in order, with nothing between but space."""
    spans: list[Span] = []
    for token in tokens(line):
        start = line.index(token, spans[-1][1] if spans else 0)
        spans.append((start, start + len(token)))
    return spans


def tokens(line: str) -> list[str]:
    """The tokens of a lower-cased English line."""
    spaced = _FULL_STOP.sub(" . ", _ALONE.sub(lambda match: f" {match.group()} ", line))
    found: list[str] = []
    for word in spaced.split():
        tail: list[str] = []
        for contraction in (_SHORT_CONTRACTION, _LONG_CONTRACTION):
            match = contraction.search(word)
            if match and match.start() > 0:
                tail.insert(0, match.group())
                word = word[: match.start()]
        found.extend([word, *tail])
    return found
