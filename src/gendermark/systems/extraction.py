"""How a translation is found in what a chat model answers."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gendermark.linguistics import context as contexts
from gendermark.linguistics.codes import NAMES
from gendermark.systems.wordings import ENGLISH, WORDINGS, in_any

# "I can't" alone may be anybody's sentence; with one of these it is a model's.
_TASK = r"translat|assist|help|provid|compl[yi]|fulfil|generat|engage|process|answer|respond|continue|do (?:that|this)"
_MODEL = re.compile(
    r"\b(?:as|i'm|i am) (?:just |only )?an? (?:ai\b|artificial|virtual assistant)|language model|modelo de lenguaje"
    r"|modelo de linguagem|modèle de langage|modello linguistico|sprachmodell|языков\w+ модел|мовн\w+ модел"
    r"|model\w* językow|jazykov\w+ model|γλωσσικό μοντέλο|نموذج لغ|מודל שפה|भाषा मॉडल|언어 모델|言語モデル|语言模型"
    r"|dil modeli|kielimalli|nyelvi modell|مدل زبانی|taalmodel"
)
_ASKS_FOR_TEXT = re.compile(
    r"(?:please|could you|can you)(?: please)? (?:provide|share|send|give|enter|paste)(?: me)?(?: with)? .{0,30}"
    r"(?:text|sentence|phrase|passage)|i don't see (?:any|a|the) (?:text|sentence)|no text (?:was )?(?:provided|given)"
)
_INTERJECTION = re.compile(
    r"(?:sure(?: thing)?|certainly|of course|absolutely|ok(?:ay)?|alright|great|no problem|understood|got it)\b"
    r"\s*[!.,:]\s*",
    re.IGNORECASE,
)
_OPENER = re.compile(
    r"here(?:'s|'re| is| are)|below is|this is|the (?:following|translated)|in \w+,|translated|i(?:'d| would)"
)
_HERE_IT_IS = re.compile(
    r"here (?:you go|it is|you are)|here(?:'s| is) (?:the|your) (?:text|sentence|result|answer)|answer|output"
    r"|here are .*(?:options|versions|variants|possibilit|ways)"
)
_FRAME = re.compile(r"translat|would be|can be said|is said|means|you (?:can|could|would) say")
_THINKING = "think|thinking|thought|reasoning|reflection|analysis"
_THOUGHT = re.compile(rf".*</(?:{_THINKING})>", re.DOTALL | re.IGNORECASE)
_OPEN_THOUGHT = re.compile(rf"\s*<(?:{_THINKING})>", re.IGNORECASE)
_SPECIAL_TOKEN = re.compile(r"<\|[\w-]{1,40}\|>|</?s>|<(?:end|start)_of_turn>|\[/?INST\]")
_INVISIBLE = re.compile("^[\ufeff\u200b\u2060]+|[\ufeff\u200b\u2060]+$")
_FENCED = re.compile(r"(```|~~~)(?:[\w-]*[ \t]*\n)?(.*?)\n?[ \t]*\1", re.DOTALL)
_TAGGED = re.compile(r"<(translation|target|output|answer)>(.*?)</\1>", re.DOTALL | re.IGNORECASE)
_COLON = re.compile(r"\s?[:：]")
_MARKUP = " \t\n*_#>`"
_LIST_MARK = re.compile(
    r"(?:[-•*·]|\d{1,2}[.)]|(?:option|version|variant|alternative)\s*\d?\s*[:.)])\s+", re.IGNORECASE
)
_SENTENCE_END = re.compile(r"[.!?…।؟]+[\"'”’»)]*(?=\s|$)|[。！？]+")
_ABBREVIATION = re.compile(r"\b(?:\w|Mr|Mrs|Ms|Dr|St|Jr|Sr|Prof)\.$")
_ECHO_END = re.compile(r"[.!?…\s\"”»“'*_]*?\s*(?:→|->|=>|=|:|\n|(?=\(.*\)\.?$))\s*")
_PARENTHESIS = re.compile(r"\s*[(\[]([^()\[\]]+)[)\]]\.?$")
_QUOTES = {
    **{mark: mark for mark in "\"'`״＂"},
    **dict(zip("“„«»‘‚「『‹", "”“»«’‘」』›", strict=True)),
}
_QUOTED = re.compile(r"[\"“«„「]\s?([^\"“”«»„「」\n]+?)\s?[\"”»“」]")
_OPENED_QUOTE = re.compile(r"[\"“«„「]")
_LONGEST_LEAD_IN = 150
_ALIKE = 0.6
"""From this ratio of `difflib` on, two texts are two versions of one translation."""
_LONG = 500
"""Characters; longer texts are compared word by word, or a model that runs on for ever would keep us as long."""
_FRAMED_SHARE = 0.4
"""A quoted text shorter than this share of the source is a word of it, not its translation."""
_COMPACT = ("ja", "ko", "zh")
"""Languages that say the same in half the characters."""

EMPTY = "empty answer"
REFUSAL = "refusal"
ALTERNATIVES = "several alternatives"
UNFINISHED = "unfinished thinking"
EXTRACTION_VERSION = 1
"""Raised whenever `extract` can give another text; part of a system's id."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """The translation alone, or what is wrong with the answer."""

    text: str | None
    problem: str | None = None


def extract(answer: str, source: str, target_language: str) -> Extraction:
    """The translation in a chat model's answer, without what it says around it.

    What the source itself has (a colon, quotes, an apology) is never taken for the model's own words. An answer that
    gives both genders is not cut to the first: "el/la", "X / Y" stay whole, and two whole alternatives are a problem.
    """
    own = _Answer(_own_sentence(source), target_language)
    found = own.extract(answer)
    # What was taken away may have hidden more of the kind.
    while found.text is not None and len(found.text) < len(answer):
        answer, found = found.text, own.extract(found.text)
    return found


class _Answer:
    """An answer to one source; each step takes a text and gives back what is left of it."""

    def __init__(self, source: str, code: str) -> None:
        self._source, self._code = source, code
        self._wording = WORDINGS.get(code, ENGLISH)
        names = NAMES.get(code, "target").lower()
        self._names = f"{names}|{self._wording.names}" if code in WORDINGS else names
        noun = f"{self._wording.translation}|translat"
        self._about = re.compile(f"{self._names}|{noun}")
        """Words about translating, or the name of the target language."""
        before = rf"(?:\w{{1,3}}\s+)?(?:final\s+|(?:{self._names})\w*\s+)*"
        into = rf"\s+\w{{1,4}}\s+(?:{self._names})\w*|\s*\((?:{self._names}|{re.escape(code)})\w*\)"
        behind = rf"(?:{into})?(?:\s+(?:is|es|est|ist))?"
        self._label = re.compile(rf"{before}(?:{self._names}|{noun})\w*{behind}")
        self._later_label = re.compile(rf"{before}(?:{noun})\w*{behind}")
        self._source_is_about = re.search(f"{in_any('translate')}|{self._names}", _plain(source)) is not None

    def extract(self, answer: str) -> Extraction:
        text = self._without_thinking(answer)
        if text is None:
            return Extraction(None, UNFINISHED)
        text = self._tidy(text)
        if self._refuses(text):
            return Extraction(None, REFUSAL)
        texts = self._wrapped(text)
        if len(texts) > 1:
            return Extraction(None, ALTERNATIVES)
        text = self._peeled(self._behind_label(texts[0] if texts else text))
        if self._refuses(text):
            return Extraction(None, REFUSAL)
        kept, rest = self._cut(text)
        text = self._peeled(kept)
        if self._has_alternatives(kept, text, rest):
            return Extraction(None, ALTERNATIVES)
        return Extraction(text) if any(map(str.isalnum, text)) else Extraction(None, EMPTY)

    # -- thinking, special tokens, blocks

    def _without_thinking(self, answer: str) -> str | None:
        if _OPEN_THOUGHT.search(self._source):
            return answer
        # The opening tag is often part of the prompt, and missing here.
        thought = _THOUGHT.match(answer)
        text = answer[thought.end() :] if thought else answer
        return None if _OPEN_THOUGHT.match(text) else text

    def _tidy(self, text: str) -> str:
        if not _SPECIAL_TOKEN.search(self._source):
            text = _SPECIAL_TOKEN.sub("", text)
        return _INVISIBLE.sub("", text.replace("\r\n", "\n").strip()).strip()

    def _wrapped(self, text: str) -> list[str]:
        """The different texts in code fences or tags."""
        for pattern in (_FENCED, _TAGGED):
            if not pattern.search(self._source):
                found = dict.fromkeys(block.strip() for _, block in pattern.findall(text) if block.strip())
                if found:
                    return list(found)
        return []

    # -- refusals

    def _refuses(self, text: str) -> bool:
        head, source = _plain(text)[:200], _plain(self._source)
        if re.match(in_any("sorry"), source) or re.search(in_any("cannot"), source[:60]):
            # The source is a refusal itself, and so is its translation: only talk of translating gives a model away.
            talk = f"{in_any('translate')}|{_MODEL.pattern}"
            return self._declines(head) and bool(re.search(talk, head)) and not re.search(talk, source)
        asks = _ASKS_FOR_TEXT.search(head) is not None and not _ASKS_FOR_TEXT.search(source)
        return asks or self._declines(head)

    def _declines(self, head: str) -> bool:
        for wording in (self._wording, ENGLISH):
            declined = re.search(wording.cannot, head)
            if not declined:
                continue
            task = f"{wording.translate}|{_TASK}" if wording is ENGLISH else wording.translate
            is_first = declined.start() < 15
            if re.match(wording.sorry, head) or _MODEL.search(head) or (is_first and re.search(task, head)):
                return True
        return False

    # -- what stands before and around the translation

    def _behind_label(self, text: str) -> str:
        """What follows "Final translation:" on a later line, where the lines before it are deliberation."""
        lines = text.split("\n")
        for number, line in enumerate(lines[1:], start=1):
            label, colon, behind = line.partition(":")
            if colon and self._later_label.fullmatch(_plain(label)) and not self._source_is_about:
                found = "\n".join([behind, *lines[number + 1 :]]).strip(_MARKUP)
                first = found.partition("\n")[0]
                if first and not _same(first, self._source) and not _alike(first, lines[0]):
                    return found
        return text

    def _peeled(self, text: str) -> str:
        while True:
            before = text
            for step in (self._without_lead_in, self._without_echo, self._without_frame, self._without_marks):
                text = step(text.strip()).strip()
            if text == before:
                return text

    def _without_lead_in(self, text: str) -> str:
        interjection = _INTERJECTION.match(text)
        if interjection and not _INTERJECTION.match(self._source):
            behind = text[interjection.end() :]
            mark = interjection.group().rstrip()[-1]
            is_certain = "\n" in interjection.group() or (self._code != "en" and mark != ",")
            if behind and (is_certain or self._without_lead_in(behind) != behind):
                return behind
        line, _, further = text.partition("\n")
        colon = _COLON.search(line)
        if colon and colon.start() <= _LONGEST_LEAD_IN and self._is_lead_in(line[: colon.start()]):
            # The end of the label's own emphasis, but not the beginning of the translation's.
            return re.sub(r"^[*_`]+(?=\s|$)", "", text[colon.end() :])
        plain = _plain(line)
        is_title = self._label.fullmatch(plain) or (_OPENER.match(plain) and self._about.search(plain))
        return further if further.strip() and is_title and not self._source_is_about else text

    def _is_lead_in(self, head: str) -> bool:
        if _OPENED_QUOTE.search(_QUOTED.sub("", head)):
            return False  # the colon stands inside a quoted translation
        plain, source = _plain(head), _plain(self._source)
        own_head = source[: colon.start()] if (colon := _COLON.search(source)) else ""
        if not self._about.search(plain):
            return self._code != "en" and bool(_HERE_IT_IS.match(plain)) and not own_head
        if own_head and len(own_head.split()) <= 3 and re.search(f"{in_any('translate')}|{self._names}", own_head):
            return False
        if self._label.fullmatch(plain) or _OPENER.match(plain):
            return True
        # Where the source speaks of translating, or has a colon of its own, a longer head may be the translation's.
        return not own_head and not self._source_is_about

    def _without_echo(self, text: str) -> str:
        """Without the source, where it is repeated before its translation."""
        source = self._source.rstrip(".!? ")
        place = text.find(source)
        if len(source) < 4 or not 0 <= place <= 40:
            return text
        end = _ECHO_END.match(text, place + len(source))
        label = text[:place].strip(_MARKUP + "\"“«„'")
        is_label = not label or (label[-1] in ":：" and len(label.split()) <= 3)
        behind = text[end.end() :].strip() if end and is_label else ""
        return behind.removeprefix("(").removesuffix(".").removesuffix(")") if behind[:1] == "(" else behind or text

    def _without_frame(self, text: str) -> str:
        """The quoted translation in a sentence about it: `In Spanish, that would be "..."`."""
        if "\n" in text or _QUOTED.search(self._source) or self._source_is_about:
            return text
        quoted = [part for part in _QUOTED.findall(text) if not _same(part, self._source)]
        around = _plain(_QUOTED.sub("", text))
        if len(quoted) != 1 or not _FRAME.search(around) or not self._about.search(around):
            return text
        share = _FRAMED_SHARE / 2 if self._code in _COMPACT else _FRAMED_SHARE
        return quoted[0] if len(quoted[0]) >= share * len(self._source) else text

    def _without_marks(self, text: str) -> str:
        """Without emphasis, a list mark, or quotes around all of it, unless the source has them."""
        source = self._source.strip()
        if "**" not in source:
            text = re.sub(r"\*\*(?=\S)((?:(?!\*\*).)+)(?<=\S)\*\*", r"\1", text)
        for mark in ("*", "_"):
            if mark not in source and len(text) > 2 and text[0] == text[-1] == mark and text.count(mark) == 2:
                text = text[1:-1]
        if not _LIST_MARK.match(source):
            text = _LIST_MARK.sub("", text.removeprefix("> "), count=1) if _begins_with_mark(text) else text
        return text if _is_quoted(source) else _unquoted(text)

    # -- what stands behind it

    def _cut(self, text: str) -> tuple[str, list[str]]:
        """The lines of the translation as one text, and those of what follows."""
        lines = [line.strip() for line in text.split("\n") if line.strip()]
        n_source_lines = sum(bool(line.strip()) for line in self._source.split("\n"))
        if not lines:
            return "", []
        if n_source_lines > 1:
            return "\n".join(lines[:n_source_lines]), lines[n_source_lines:]
        n_kept = 1
        while n_kept < len(lines) and self._goes_on(" ".join(lines[:n_kept]), lines[n_kept]):
            n_kept += 1
        kept, rest = " ".join(lines[:n_kept]), lines[n_kept:]
        remark = _PARENTHESIS.search(kept)
        if remark and not re.search(r"[(\[]", self._source) and self._is_remark(kept[: remark.start()], remark[1]):
            return kept[: remark.start()], [remark[1], *rest]
        return kept, rest

    def _goes_on(self, kept: str, line: str) -> bool:
        """Whether a line is still part of the translation: some of the source's sentences are not said yet."""
        is_short = _n_sentences(kept) < _n_sentences(self._source) and len(kept) < 0.8 * len(self._source)
        return is_short and not self._is_remark(kept, line) and not _LIST_MARK.match(line)

    def _is_remark(self, text: str, line: str) -> bool:
        plain = _plain(line)
        if _same(line, self._source) or re.match(f"{self._wording.note}|{ENGLISH.note}", plain):
            return True
        # A label of a language, or another script: the source again, or how to pronounce the translation.
        if re.match(rf"(?:{'|'.join(NAMES.values()).lower()})\s?[:：]", plain):
            return True
        return _script(line) not in (_script(text), "") and _letters(line) not in _letters(self._source)

    def _has_alternatives(self, kept: str, text: str, rest: list[str]) -> bool:
        labelled = _plain("\n".join([kept, *(line[:30] for line in rest)]))
        if (
            self._names_both_genders(labelled)
            and "/" not in kept
            and not self._names_both_genders(_plain(self._source))
        ):
            return True
        connector = f"(?:{self._wording.alternative}|{ENGLISH.alternative}):?"
        if any(re.fullmatch(connector, _plain(line)) for line in rest[:-1]):
            return True
        return any(_alike(segment, text) for line in rest for segment in _segments(line))

    def _names_both_genders(self, text: str) -> bool:
        own, english = self._wording, ENGLISH
        genders = ((own.masculine, english.masculine), (own.feminine, english.feminine))
        return all(re.search(rf"(?:{one}|{other})\w*(?: form| version)?\s*[)\]:：*]", text) for one, other in genders)


def _own_sentence(source: str) -> str:
    """The sentence itself, where `--context prompt` has put an instruction before it."""
    before, between, _ = contexts.show("\0", "\0", "prompt").split("\0")
    return source.rpartition(between)[2] if source.startswith(before) and between in source else source


def _plain(text: str) -> str:
    """In lower case and with one kind of apostrophe, without marks around it."""
    return text.lower().replace("’", "'").strip(_MARKUP + "\"“”«»„'([-•")


def _same(one: str, other: str) -> bool:
    return _letters(one) == _letters(other)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))


def _alike(one: str, other: str) -> bool:
    """Whether two texts are different versions of one translation."""
    short, long = sorted((len(one), len(other)))
    if short < 4 or short < long * _ALIKE / 2 or _same(one, other):
        return False
    parts: list[Sequence[str]] = [text.lower() if long <= _LONG else text.lower().split() for text in (one, other)]
    return difflib.SequenceMatcher(a=parts[0], b=parts[1], autojunk=False).ratio() >= _ALIKE


def _segments(line: str) -> Iterator[str]:
    """What in a remark could be a translation: all of it, what follows a colon, what stands in quotes."""
    line = _LIST_MARK.sub("", line, count=1)
    yield line
    yield from (part.strip() for part in _COLON.split(line)[1:])
    yield from _QUOTED.findall(line)


def _script(text: str) -> str:
    """Whether most letters are Latin ones; empty if there is none."""
    letters = [letter for letter in text if letter.isalpha()]
    n_latin = sum(letter < "ɐ" or "Ḁ" <= letter <= "ỿ" for letter in letters)
    return ("latin" if 2 * n_latin > len(letters) else "other") if letters else ""


def _begins_with_mark(text: str) -> bool:
    return text.startswith("> ") or _LIST_MARK.match(text) is not None


def _n_sentences(text: str) -> int:
    ends = [end.end() for end in _SENTENCE_END.finditer(text) if not _ABBREVIATION.search(text[: end.end()])]
    return len(ends) + (not ends or bool(text[ends[-1] :].strip()))


def _is_quoted(text: str) -> bool:
    """Whether a text begins with a quote, so that its translation may well do so too."""
    return text[:1] in {*_QUOTES, *_QUOTES.values()} and text != ""


def _unquoted(text: str) -> str:
    """Without quotes around all of it; quotes around its first and its last words are something else."""
    end = text[-1:] if text[-1:] in ".。" and text[-2:-1] in _QUOTES.values() else ""
    body = text.removesuffix(end)
    if len(body) < 3 or _QUOTES.get(body[0]) != body[-1]:
        return text
    first, last, inner = body[0], body[-1], body[1:-1]
    # An apostrophe, or the sign in a Hebrew abbreviation, has letters on both sides; then quotes within the quotes.
    loose = re.sub(r"(?<=\w)[\"'״](?=\w)", "", inner)
    loose = re.sub(rf"(?:^|(?<=[\s(])){first}(?=\w)[^{first}{last}]+{last}(?!\w)", "", loose)
    if first in loose or last in loose:
        return text
    inner = inner.strip()
    return inner if not end or inner[-1:] in ".!?。！？…" else inner + end
