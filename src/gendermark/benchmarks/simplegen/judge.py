"""SimpleGEN by our rules: the lexicon of thirteen languages, with case forms, articles and agreeing words."""

from __future__ import annotations

from collections.abc import Mapping

from gendermark.benchmarks.benchmark import Answers, ItemSet
from gendermark.benchmarks.simplegen import Settings
from gendermark.benchmarks.simplegen.published import LANGUAGES, Entry, dictionary_of, judge_as_paper, look_up
from gendermark.linguistics.failures import failure
from gendermark.linguistics.occupations import bundled_finder, citation_forms
from gendermark.records import Gender, Item, Judgement, Verdict


def judge(item_set: ItemSet, answers: Answers) -> list[Judgement]:
    settings: Settings = item_set.selection
    pairs = [(item, samples[0].text) for item, samples in zip(item_set.items, answers, strict=True)]
    if settings.rules == "paper":
        return [judge_as_paper(item, text, dictionary_of(settings)) for item, text in pairs]
    # Where the paper has a dictionary, its verdict is kept beside ours, so that a difference can be seen.
    has_dictionary = settings.data == "official" and settings.target_language in LANGUAGES
    dictionary = dictionary_of(settings) if has_dictionary else None
    return [_judge_best(item, text, settings.target_language, dictionary) for item, text in pairs]


def _judge_best(item: Item, text: str | None, language: str, published: Mapping[str, Entry] | None) -> Judgement:
    tags = dict(item.tags)
    if published is not None:
        observed, _ = look_up(item, text or "", published)
        tags["paper_outcome"] = (
            "inconclusive" if observed is None else "correct" if observed == item.expected else "incorrect"
        )
    reason = failure(item.source, text)
    if reason or text is None:
        return Judgement.of(item, Verdict.NOT_TRANSLATED, tags=tags, reason=reason or "error")
    finding = bundled_finder(language).find(text, item.entity)
    verdict = Verdict.JUDGED if finding.gender else Verdict.UNJUDGEABLE
    reason = "" if finding.gender else finding.reason
    facts = {"evidence": finding.evidence, "reason": reason, "spans": finding.spans(text)}
    return Judgement.of(item, verdict, finding.gender, tags=tags, **facts)


def render(item: Item, gender: Gender, settings: Settings) -> str:
    if gender is Gender.NEUTRAL:
        return "…"
    if settings.rules == "paper":
        form = dictionary_of(settings)[item.tags["entry"]].first[gender]
    else:
        form = citation_forms(settings.target_language)[item.entity, gender.value, item.tags["number"]]
    return f"{form[:1].upper()}{form[1:]}."


def fit(item: Item, text: str, settings: Settings) -> float | None:
    return float(bundled_finder(settings.target_language).find(text, item.entity).reason != "absent")
