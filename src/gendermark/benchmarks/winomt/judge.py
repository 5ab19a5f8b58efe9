"""WinoMT by our rules: the entity's noun is found by lexicon and word alignment, and its gender is read."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, cached_property, partial
from itertools import chain

from gendermark import registry
from gendermark.benchmarks.benchmark import Answers, BenchmarkOf, ItemSet
from gendermark.benchmarks.winomt import PUBLISHED, Settings, items
from gendermark.benchmarks.winomt.items import ARTICLES
from gendermark.benchmarks.winomt.measures import MEASURES
from gendermark.errors import UserError
from gendermark.reading import alignment, published
from gendermark.reading.alignment import align_one, check_available
from gendermark.reading.detectors import detector_name, open_detector
from gendermark.reading.entities import read_entity
from gendermark.reading.failures import failure
from gendermark.reading.nouns import is_person
from gendermark.reading.occupations import bundled_finder, citation_forms
from gendermark.reading.words import cut
from gendermark.records import Gender, Item, Judgement, Translation, Verdict

_STEM = 5
"""Letters that the case forms of a word roughly share."""


def judge(item_set: ItemSet, answers: Answers) -> list[Judgement]:
    translations = [samples[0] for samples in answers]
    if item_set.selection.rules in PUBLISHED:
        return judge_as_published(item_set, translations)
    return list(judge_best(item_set, [translation.text for translation in translations]))


def render(item: Item, gender: Gender, settings: Settings) -> str:
    forms = citation_forms(settings.target_language)
    masculine, feminine = (forms.get((item.entity, g, "singular"), "") for g in ("masculine", "feminine"))
    if gender is Gender.NEUTRAL:
        return f"{masculine} / {feminine}."
    return f"{masculine if gender is Gender.MASCULINE else feminine}."


def fit(item: Item, text: str, settings: Settings) -> float | None:
    finder = bundled_finder(settings.target_language)
    return float(bool(finder.occurrences(finder.language.cut(text), item.entity)))


def judge_best(item_set: ItemSet, translations: Sequence[str | None]) -> Iterator[Judgement]:
    """Judgements one by one; word alignment has seen all sentences before the first."""
    finder = bundled_finder(item_set.selection.target_language)
    texts = [text or "" for text in translations]
    cut_source = cache(cut)
    sources = [cut_source(item.source) for item in item_set.items]
    targets = [list(map(sys.intern, finder.language.cut(text))) for text in texts]
    nouns = [_noun_position(item, words) for item, words in zip(item_set.items, sources, strict=True)]
    detector = open_detector(item_set.selection.detector)
    links = _LazyLinks(list(zip(sources, targets, strict=True)), nouns, item_set.selection.aligner)
    for number, (item, words) in enumerate(zip(item_set.items, targets, strict=True)):
        reason = failure(item.source, translations[number])
        if reason:
            yield Judgement.of(item, Verdict.NOT_TRANSLATED, reason=reason)
            continue
        entity = item.entity.lower().split()
        others = [word for word in sources[number] if word not in entity and is_person(word)]
        place = nouns[number] / max(len(sources[number]) - 1, 1)
        finding = read_entity(finder, words, item.entity, partial(links.targets_of, number), place, others)
        if detector is not None and finding.evidence:
            noun = finding.evidence[-1].split()[-1]
            finding = replace(finding, gender=detector.gender(texts[number], noun), reason="model")
        verdict = Verdict.JUDGED if finding.gender else Verdict.UNJUDGEABLE
        spans = finding.spans(texts[number])
        yield Judgement.of(item, verdict, finding.gender, evidence=finding.evidence, reason=finding.reason, spans=spans)


def _noun_position(item: Item, words: Sequence[str]) -> int:
    """Position of the entity's noun in the tokenised source; the last word of a compound."""
    entity = cut(item.entity)
    near = int(item.tags["position"])
    if near < len(words) and entity == [words[near]]:  # the usual case
        return near
    places = [p for p in range(len(words) - len(entity) + 1) if list(words[p : p + len(entity)]) == entity]
    if not places:
        return min(near, len(words) - 1)
    return min(places, key=lambda place: abs(place - near)) + len(entity) - 1


class _LazyLinks:
    """Word alignment of the whole set in both directions, computed on first use.

    A word linked to an entity only once is likely chance, and one linked to most entities names none of them. Both are
    left out, so that nonsense is not read as a person.
    """

    def __init__(self, pairs: Sequence[alignment.Pair], nouns: Sequence[int], aligner: str) -> None:
        self._pairs, self._nouns, self._aligner = pairs, nouns, aligner

    def targets_of(self, number: int) -> list[int]:
        found, support = self._linked
        source, target = self._pairs[number]
        noun = source[self._nouns[number]]
        return [
            place
            for place in found[number]
            if support[noun, stem := target[place][:_STEM]] > 1 and stem not in self._of_most_entities
        ]

    @cached_property
    def _linked(self) -> tuple[list[list[int]], Counter[tuple[str, str]]]:
        found = align_one(self._pairs, self._nouns, self._aligner)
        linked = (
            {(source[noun], target[place][:_STEM]) for place in places}
            for (source, target), noun, places in zip(self._pairs, self._nouns, found, strict=True)
        )
        return found, Counter(chain.from_iterable(linked))

    @cached_property
    def _of_most_entities(self) -> frozenset[str]:
        support = self._linked[1]
        n_entities = Counter(stem for _, stem in support)
        n_all = len({noun for noun, _ in support})
        return frozenset(stem for stem, n in n_entities.items() if n > max(_FEWEST_ENTITIES, n_all / 2))


# -- as released: rules `paper2019` and `repo2020` ---------------------------------------------------------------------


def judge_as_published(item_set: ItemSet, translations: Sequence[Translation]) -> list[Judgement]:
    selection = item_set.selection
    texts = [translation.text or "" for translation in translations]
    # As released: whitespace tokens, forward links, trained on the scored file.
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
        spans = published.spans_of(text, positions)
        judgements.append(Judgement.of(item, verdict, gender, evidence=tuple(words), reason=reason, spans=spans))
    return judgements


def complete(settings: Settings) -> Settings:
    if settings.rules in PUBLISHED:
        if settings.target_language not in published.LANGUAGES:
            raise UserError(
                f"the published rules of winomt cover {' '.join(published.LANGUAGES)}, "
                f"not {settings.target_language}; use --rules best"
            )
        if settings.aligner not in ("", "fast-align"):
            raise UserError("the published rules of winomt align with fast-align; leave out --aligner")
        if settings.detector:
            raise UserError("the published rules of winomt have their own gender detector; leave out --detector")
    settings = replace(settings, aligner=settings.aligner or "fast-align")
    check_available(settings.aligner)
    open_detector(settings.detector)
    return settings


def default_revision(settings: Settings) -> Settings:
    if settings.rules != "paper2019" or settings.data != "official":
        return settings
    if settings.revision == "latest":
        raise UserError("rules paper2019 need the data of 2019; leave out --revision, or use --rules repo2020")
    return replace(settings, revision="2019")


def signature(settings: Settings) -> Mapping[str, str]:
    variant = {"variant": settings.variant} if settings.variant else {}
    if settings.rules in PUBLISHED:
        return {**variant, "aligner": "fast-align", "detector": published.detector_name(settings.target_language)}
    detector = detector_name(settings.target_language, settings.detector)
    return {**variant, "aligner": f"lexicon+{settings.aligner}", "detector": detector}


def file_names(settings: Settings) -> list[str]:
    """Name files as the authors do; `adj.`: with adjectives."""
    return [f"adj.{settings.direction}" if settings.variant else settings.direction]


BENCHMARK = BenchmarkOf(
    name="winomt",
    title="WinoMT",
    question="Does the translated noun keep the gender that the sentence implies?",
    settings=Settings,
    rules_version=6,
    language_pairs=lambda _: [("en", code) for code in registry.names("language")],
    default_own=default_revision,
    complete_own=complete,
    load=items.load,
    sources=items.sources,
    judge=judge,
    measures=MEASURES,
    render=render,
    findings="gendermark.benchmarks.winomt.findings:PRESENTATION",
    card="winomt",
    signature=signature,
    stereotype=items.stereotype,
    fit=fit,
    file_names=file_names,
)
_FEWEST_ENTITIES = 10
