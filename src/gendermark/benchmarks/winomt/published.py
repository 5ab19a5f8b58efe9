"""WinoMT as released: rules `paper2019` and `repo2020`."""

from __future__ import annotations

from collections.abc import Sequence

from gendermark.benchmarks.benchmark import ItemSet
from gendermark.benchmarks.winomt.items import ARTICLES
from gendermark.linguistics import alignment, published
from gendermark.records import Judgement, Translation, Verdict


def judge_as_published(item_set: ItemSet, translations: Sequence[Translation]) -> list[Judgement]:
    selection = item_set.selection
    texts = [translation.text or "" for translation in translations]
    # As released: whitespace words, forward links, trained on the file that is scored.
    links = alignment.align([(i.source.split(), text.split()) for i, text in zip(item_set.items, texts, strict=True)])
    judgements = []
    for item, text, pair_links in zip(item_set.items, texts, links, strict=True):
        noun = int(item.tags["position"])
        source = item.source.split(" ")
        article = [noun - 1] if noun > 0 and source[noun - 1].lower() in ARTICLES else []
        positions = [target for place in (*article, noun) for s, target in pair_links if s == place]
        all_words = text.split()
        words = [all_words[target].strip(published.PUNCTUATION) for target in positions]
        gender = published.published_gender(
            selection.target_language, selection.rules, words, positions, text, item.entity
        )
        verdict = Verdict.JUDGED if gender else Verdict.UNJUDGEABLE
        reason = "" if gender else "unaligned"
        facts = {"evidence": tuple(words), "reason": reason, "spans": published.spans_of(text, positions)}
        judgements.append(Judgement.of(item, verdict, gender, **facts))
    return judgements
