"""TGBI's sentences: every lexeme in every style of the source language; the official lexicon, or our own."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

from gendermark.benchmarks.benchmark import Direction, ItemSet, tagged_stereotype
from gendermark.benchmarks.tgbi import SETS, Settings
from gendermark.data.bundled import core_origin, core_rows, core_text
from gendermark.data.official import official_files
from gendermark.data.own import file_of, read_own
from gendermark.io.textfiles import read_lines
from gendermark.records import Gender, Item

SOURCE_LANGUAGES = ("ko", "fa", "fi", "hu", "ja", "tr")
# The released corpora list occupations, then negative, then positive expressions.
KINDS = ("occupation", "negative", "positive")
_OFFICIAL_FILES = {"occupation": "job.txt", "negative": "neg.txt", "positive": "pos.txt"}


class Lexeme(NamedTuple):
    """A word or phrase of the lexicon, and its class of template."""

    lexeme_id: str
    cluster_id: str
    text: str
    kind: str
    template_class: str
    stereotype: str = ""
    gloss: str = ""


def language_pairs(data: str) -> list[Direction]:
    return [(code, "en") for code in (("ko",) if data == "official" else SOURCE_LANGUAGES)]


def load(settings: Settings) -> ItemSet:
    if path := file_of(settings.data):
        return _own(path, settings)
    if settings.data == "core":
        texts = [core_text(f"tgbi/{settings.source_language}.{ending}") for ending in ("tsv", "toml")]
        lexemes, origin = _core_lexemes(settings.source_language), core_origin(*texts)
    else:
        lexemes, origin = _official_lexemes(settings.revision)
    sentences = _sentences(lexemes, styles_of(settings.source_language))
    if not settings.parts:
        return ItemSet(settings, tuple(sentences), origin)
    chosen = [
        replace(item, item_id=f"{item.item_id}@{part}", index=index, tags={**item.tags, "sets": part})
        for part in settings.parts
        for index, item in enumerate(_in_set(sentences, part))
    ]
    return ItemSet(settings, tuple(chosen), origin)


def _own(path: str, settings: Settings) -> ItemSet:
    rows, origin = read_own(path, ("source", "entity", "set"))
    items: list[Item] = []
    for index, row in enumerate(rows):
        kind = row.one_of("set", SETS, "")
        stereotype = row.one_of("stereotype", ("", "masculine", "feminine"), "")
        tags = {"sets": kind, "style": "own", "kind": kind, "lexeme": row["entity"], "stereotype": stereotype}
        tags["gloss"] = row["gloss"]
        group = row["group"] or row["entity"]
        item = Item(f"own-{index:04}", index, group, row["source"], Gender.NEUTRAL, tags, entity=row["entity"])
        if not settings.parts or kind in settings.parts:
            items.append(replace(item, index=len(items)))
    return ItemSet(settings, tuple(items), origin)


def stereotype(item: Item) -> Gender | None:
    return tagged_stereotype(item) or (Gender.MASCULINE if item.tags["kind"] == "occupation" else Gender.FEMININE)


def _sentences(lexemes: Sequence[Lexeme], styles: Sequence[Mapping[str, Any]]) -> list[Item]:
    """All sentences in export order: by pronoun, kind of lexeme, then ending, as in the released sets."""
    ordered = [
        (style, lexeme)
        for formality in dict.fromkeys(style["formality"] for style in styles)
        for kind in KINDS
        for style in styles
        if style["formality"] == formality
        for lexeme in lexemes
        if lexeme.kind == kind
    ]
    items = []
    for index, (style, lexeme) in enumerate(ordered):
        manner = [part for part in (style["formality"], style["politeness"]) if part]
        name = "-".join(manner) or "plain"
        tags = {
            "sets": " ".join([*manner, lexeme.kind]),
            "style": name,
            "kind": lexeme.kind,
            "lexeme": lexeme.text,
            "stereotype": lexeme.stereotype,
            "gloss": lexeme.gloss,
        }
        source = attach(style["templates"][lexeme.template_class], lexeme.text)
        item_id, group_id = f"{lexeme.lexeme_id}-{name}", lexeme.cluster_id
        items.append(Item(item_id, index, group_id, source, Gender.NEUTRAL, tags, entity=lexeme.text))
    return items


def _in_set(sentences: Sequence[Item], name: str) -> list[Item]:
    """The sentences of one set in the order of its released file.

    For style and content sets this is export order, except that `impolite` and `polite` put both pronouns of one kind
    together.
    """
    chosen = [item for item in sentences if name in item.tags["sets"].split()]
    if name in ("impolite", "polite"):
        chosen.sort(key=lambda item: KINDS.index(item.tags["kind"]))
    return chosen


def sets_of(code: str) -> list[str]:
    present = {part for style in styles_of(code) for part in (style["formality"], style["politeness"])} | set(KINDS)
    return [name for name in SETS if name in present]


@cache
def styles_of(code: str) -> Sequence[Mapping[str, Any]]:
    found: list[dict[str, Any]] = tomllib.loads(core_text(f"tgbi/{code}.toml"))["style"]
    return found


def _core_lexemes(code: str) -> list[Lexeme]:
    lexemes = []
    for number, row in enumerate(core_rows(f"tgbi/{code}.tsv")):
        lexeme_id, lean = f"{code}-{number:04}", row["lean"].replace("none", "")
        lexemes.append(Lexeme(lexeme_id, lexeme_id, row["lexeme"], row["kind"], row["class"], lean, row["gloss"]))
    return lexemes


def _official_lexemes(revision: str) -> tuple[list[Lexeme], str]:
    source = official_files("tgbi", revision)
    lexemes = []
    for kind in KINDS:
        lines = read_lines(source.path(f"gebnlp-tgbi/original/{_OFFICIAL_FILES[kind]}"))
        # 12 occupations occur twice in the released list; a repeated word is one lexeme, so one cluster.
        first: dict[str, str] = {}
        for number, line in enumerate(lines):
            # Sentiment entries begin with the pronoun 걔는, once misspelt as 개는; occupations stand alone.
            text = line if kind == "occupation" else line.partition(" ")[2]
            lexeme_id = f"ko-{kind}-{number:04}"
            stem = text.removesuffix("야") if kind != "occupation" else text
            verb_class = "sentiment-verb" if stem == text else "sentiment-copula"
            template_class = kind if kind == "occupation" else verb_class
            lexemes.append(Lexeme(lexeme_id, first.setdefault(text, lexeme_id), stem, kind, template_class))
    return lexemes, source.origin


# -- Korean particles that depend on the sound before them -------------------------------------------------------------

_FIRST_SYLLABLE, _FINALS = 0xAC00, 28  # 28 finals per vowel, the first of them none
_SLOT = re.compile(r"\{lexeme\}(\[이\])?")


def has_final_consonant(text: str) -> bool:
    """Whether the last syllable of a Korean word ends in a consonant."""
    return (ord(unicodedata.normalize("NFC", text)[-1]) - _FIRST_SYLLABLE) % _FINALS != 0


def attach(template: str, lexeme: str) -> str:
    """The template with the lexeme in place of `{lexeme}`; a following `[이]` stays only after a consonant."""
    linking = "이" if has_final_consonant(lexeme) else ""
    return _SLOT.sub(lambda slot: lexeme + (linking if slot[1] else ""), template)
