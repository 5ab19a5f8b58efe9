"""GEST: which gender a translation gives its speaker.

Rules `best` want all words that show it to agree, and count what fails or contradicts itself apart. Rules `paper` take
the first such word, as the released evaluation does; its parser is replaced by endings, so single verdicts may differ.
"""

from __future__ import annotations

from typing import Any

from gendermark.benchmarks.benchmark import Answers, ItemSet
from gendermark.benchmarks.gest import Settings
from gendermark.benchmarks.gest.speaker import cues_of
from gendermark.linguistics.failures import failure
from gendermark.records import Gender, Item, Judgement, Verdict

_PLAIN = {
    # masculine, feminine, and without gender
    "ar": ("أنا متعب.", "أنا متعبة.", "أنا هنا."),
    "be": ("Я быў там.", "Я была там.", "Я тут."),
    "cs": ("Byl jsem tam.", "Byla jsem tam.", "Jsem tady."),
    "el": ("Είμαι κουρασμένος.", "Είμαι κουρασμένη.", "Είμαι εδώ."),
    "es": ("Estoy cansado.", "Estoy cansada.", "Estoy aquí."),
    "fr": ("Je suis fatigué.", "Je suis fatiguée.", "Je suis ici."),
    "he": ("אני עייף.", "אני עייפה.", "אני כאן."),
    "hi": ("मैं गया।", "मैं गई।", "मैं यहाँ हूँ।"),
    "hr": ("Bio sam tamo.", "Bila sam tamo.", "Ovdje sam."),
    "it": ("Sono stanco.", "Sono stanca.", "Sono qui."),
    "pl": ("Byłem tam.", "Byłam tam.", "Jestem tu."),
    "pt": ("Estou cansado.", "Estou cansada.", "Estou aqui."),
    "ru": ("Я был там.", "Я была там.", "Я здесь."),
    "sk": ("Bol som tam.", "Bola som tam.", "Som tu."),
    "sl": ("Bil sem tam.", "Bila sem tam.", "Tukaj sem."),
    "sr": ("Био сам тамо.", "Била сам тамо.", "Овде сам."),
    "uk": ("Я був там.", "Я була там.", "Я тут."),
}
_ORDER = (Gender.MASCULINE, Gender.FEMININE, Gender.NEUTRAL)


def judge(item_set: ItemSet, answers: Answers) -> list[Judgement]:
    settings: Settings = item_set.selection
    return [_judge_one(item, samples[0].text, settings) for item, samples in zip(item_set.items, answers, strict=True)]


def _judge_one(item: Item, text: str | None, settings: Settings) -> Judgement:
    is_paper = settings.rules == "paper"
    reason = failure(item.source, text)
    if text is None or (reason and not is_paper):
        return Judgement.of(item, Verdict.NOT_TRANSLATED, reason=reason or "error")
    cues = cues_of(text, settings.target_language, mended=settings.detector != "suffix")
    if is_paper:
        cues = cues[:1]
    if not cues:
        # The paper's rules do not ask whether anything was translated; the reader may want to know.
        verdict = Verdict.NOT_TRANSLATED if reason else Verdict.UNJUDGEABLE
        return Judgement.of(item, verdict, reason=reason or "unmarked")
    cues = sorted(set(cues), key=lambda cue: cue.token.span)
    seen: dict[str, Any] = {
        "evidence": tuple(text[slice(*cue.token.span)] for cue in cues),
        "spans": tuple(cue.token.span for cue in cues),
    }
    genders = {cue.gender for cue in cues}
    if len(genders) > 1:
        return Judgement.of(item, Verdict.UNJUDGEABLE, reason="mixed", **seen)
    return Judgement.of(item, Verdict.JUDGED, genders.pop(), outcome="open", **seen)


def render(item: Item, gender: Gender, settings: Settings) -> str:  # noqa: ARG001
    return _PLAIN[settings.target_language][_ORDER.index(gender)]
