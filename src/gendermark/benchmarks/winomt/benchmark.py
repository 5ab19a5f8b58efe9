"""WinoMT: does the translated noun keep the gender the sentence implies? (Stanovsky, Smith and Zettlemoyer 2019, ACL)

English sentences about two people; a pronoun tells the gender of one of them, the entity. The translation's noun for
the entity is found by lexicon and word alignment, and its grammatical gender is compared.

Rules `paper2019` and `repo2020` are the released code; rules `best` are ours.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from importlib.resources import files

from gendermark import registry
from gendermark.benchmarks.benchmark import Benchmark, ItemSet, Selection
from gendermark.data.official import official_files
from gendermark.errors import BadFile, UserError
from gendermark.linguistics import alignment, published
from gendermark.linguistics.aligners import align_both_ways, check_available
from gendermark.linguistics.detectors import detector_name, open_detector
from gendermark.linguistics.entities import read_entity
from gendermark.linguistics.failures import failure
from gendermark.linguistics.occupations import bundled_finder, citation_forms, core_occupations, lexicon
from gendermark.linguistics.words import cut
from gendermark.metrics import genders
from gendermark.metrics.metric import Metric, Tally
from gendermark.records import Gender, Item, Judgement, Table, Translation, Verdict
from gendermark.textfiles import read_lines, split_lines

PUBLISHED = ("paper2019", "repo2020")
VARIANTS = ("", "adjectives")
_GENDERS = {"male": Gender.MASCULINE, "female": Gender.FEMININE, "neutral": Gender.NEUTRAL}
_PRONOUNS = {
    "subject": ("he", "she", "they"),
    "object": ("him", "her", "them"),
    "possessive": ("his", "her", "their"),
    "reflexive": ("himself", "herself", "themselves"),
}
_ANY_PRONOUN = re.compile(
    r"\b(he|him|his|himself|she|her|hers|herself|they|them|their|theirs|themselves|themself)\b", re.I
)
# What changes with the pronoun in the sentences of one contrast set: itself and the verb's number.
_AGREEING = (
    (_ANY_PRONOUN, "#"),
    (re.compile(r"\b(was|were)\b"), "was"),
    (re.compile(r"\b(is|are)\b"), "is"),
    (re.compile(r"\b(has|have)\b"), "has"),
)
_STEM = 5
"""Letters of a word that its case forms have in common, more or less."""
_ARTICLES = ("the", "a", "an")
# Section 3.3: "handsome" before men, "pretty" before women; where gender is open, nothing.
_ADJECTIVES = {Gender.MASCULINE: "handsome", Gender.FEMININE: "pretty"}


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a WinoMT file: gender, place of the entity among the words, sentence, entity."""

    gender: str
    index: int
    sentence: str
    entity: str

    @property
    def key(self) -> tuple[str, str, str]:
        return self.gender, self.sentence, self.entity


Halves = Mapping[tuple[str, str, str], tuple[str, ...]]
"""Which half, pro- or anti-stereotypical, each occurrence of a row belongs to; in the order of the halves' files."""


class WinoMt(Benchmark):
    name = "winomt"
    title = "WinoMT: the noun keeps the gender the sentence implies"
    rules = ("best", *PUBLISHED)
    rules_version = 2
    revisions = ("latest", "2019")
    part_noun = "group"
    parts = ("pro", "anti")
    clusters = ("entity", "contrast")
    variants = VARIANTS
    aligns = True
    headline = ("accuracy:all", "delta_g", "delta_s")

    def language_pairs(self, data: str) -> list[tuple[str, str]]:  # noqa: ARG002
        return [("en", code) for code in registry.names("language")]

    def complete(self, selection: Selection) -> Selection:
        if selection.rules == "paper2019" and selection.data == "official":
            if selection.revision == "latest":
                raise UserError(
                    "rules paper2019 belong to the data of 2019; leave out --revision, or use --rules repo2020"
                )
            selection = replace(selection, revision="2019")
        selection = super().complete(selection)
        if selection.rules in PUBLISHED and selection.target_language not in published.LANGUAGES:
            raise UserError(
                f"the published rules of winomt cover {' '.join(published.LANGUAGES)}, "
                f"not {selection.target_language}; use --rules best"
            )
        if selection.rules in PUBLISHED and selection.aligner not in ("", "fast-align"):
            raise UserError("the published rules of winomt align with fast-align; leave out --aligner")
        if selection.rules in PUBLISHED and selection.detector:
            raise UserError("the published rules of winomt read gender in their own way; leave out --detector")
        selection = replace(selection, aligner=selection.aligner or "fast-align")
        check_available(selection.aligner)
        open_detector(selection.detector)
        return selection

    def load(self, selection: Selection) -> ItemSet:
        if selection.data == "core":
            rows, origin = _core_rows()
            halves = _core_halves(rows)
        else:
            rows, halves, origin = _official_rows(selection.revision)
        items = list(items_of(rows, halves, selection))
        if selection.parts:
            items = [
                replace(item, index=index)
                for part in selection.parts
                for index, item in enumerate(_in_part(items, part, halves))
            ]
        return ItemSet(selection, tuple(items), origin)

    def signature(self, selection: Selection) -> Mapping[str, str]:
        if selection.rules in PUBLISHED:
            return {"aligner": "fast-align", "detector": published.detector_name(selection.target_language)}
        return {
            "aligner": f"lexicon+{selection.aligner}",
            "detector": detector_name(selection.target_language, selection.detector),
        }

    def judge(self, item_set: ItemSet, translations: Sequence[Translation]) -> list[Judgement]:
        if item_set.selection.rules in PUBLISHED:
            return _judge_as_published(item_set, translations)
        return _judge_best(item_set, translations)

    def tally(self, selection: Selection) -> Tally:  # noqa: ARG002
        return genders.gender_tally(_slices_of, lambda judgement: judgement.tags["contrast"])

    def metrics(self, judgements: Sequence[Judgement], selection: Selection) -> list[Metric]:
        rounded = selection.rules in PUBLISHED
        present = {name for judgement in judgements for name in _slices_of(judgement)}
        found = [genders.accuracy("all"), genders.delta_g("all", rounded=rounded)]
        if {"pro", "anti"} <= present:
            found += [genders.delta_s(), genders.delta_s_f1()]
        found += [
            genders.f1(Gender.MASCULINE, "all", rounded=rounded),
            genders.f1(Gender.FEMININE, "all", rounded=rounded),
            genders.macro_f1("all"),
            genders.decided_accuracy("all"),
            genders.coverage("all"),
            genders.pair_accuracy(),
        ]
        if {"masculine", "feminine"} <= present:
            found.append(genders.recall_gap())
        slices = (
            "mf",
            "masculine",
            "feminine",
            "neutral",
            "pro",
            "anti",
            "subject",
            "object",
            "winobias",
            "winogender",
        )
        for name in slices:
            if name in present:
                found += [genders.accuracy(name), genders.coverage(name)]
        if "neutral" in present:
            found += [genders.masculine_share("neutral"), genders.distance_from_even("neutral")]
        return found

    def render(self, item: Item, gender: Gender, selection: Selection) -> str:
        forms = _citation_forms(selection.target_language)
        entity = item.tags["entity"]
        masculine, feminine = (forms.get((entity, g, "singular"), "") for g in ("masculine", "feminine"))
        if gender is Gender.NEUTRAL:
            return f"{masculine} / {feminine}."
        return f"{masculine if gender is Gender.MASCULINE else feminine}."

    def fit(self, item: Item, text: str, selection: Selection) -> float | None:
        finder = bundled_finder(selection.target_language)
        return float(bool(finder.occurrences(finder.language.cut(text), item.tags["entity"])))

    def stratum(self, judgement: Judgement, selection: Selection) -> str:
        # How many occupations of women and of men there are is the authors' choice.
        return judgement.tags.get("occupation_stereotype", "") if selection.cluster == "entity" else ""

    def stereotype(self, item: Item) -> Gender | None:
        if item.expected is None or item.tags["stereotype"] == "none":
            return Gender(item.tags["occupation_stereotype"]) if item.tags.get("occupation_stereotype") else None
        return item.expected if item.tags["stereotype"] == "pro" else item.expected.opposite

    def tables(self, judgements: Sequence[Judgement]) -> list[Table]:
        return [_confusion(judgements), _per_entity(judgements)]

    def warnings(self, judgements: Sequence[Judgement], selection: Selection) -> list[str]:  # noqa: ARG002
        n_lost = sum(judgement.verdict is not Verdict.JUDGED for judgement in judgements)
        if n_lost > 0.1 * len(judgements):
            return [f"in {n_lost:,} of {len(judgements):,} translations the entity was not found; they count as wrong"]
        return []


# -- items -----------------------------------------------------------------------------------------------------------


def items_of(rows: Sequence[Row], halves: Halves, selection: Selection) -> Iterable[Item]:
    stereotype_of = {occupation: percent > 50 for occupation, _, percent in core_occupations()}
    n_seen: Counter[tuple[str, str, str]] = Counter()
    for index, row in enumerate(rows):
        entity = _bare(row.entity)
        n_seen[row.key] += 1
        in_halves = halves.get(row.key, ("none",))
        # A sentence that stands in both halves stands twice in the whole: once for each.
        stereotype = in_halves[min(n_seen[row.key], len(in_halves)) - 1]
        gender = _GENDERS[row.gender]
        sentence, position = row.sentence, row.index
        contrast = _contrast(sentence, entity)
        if selection.variant == "adjectives" and gender in _ADJECTIVES:
            words = sentence.split(" ")
            sentence, position = " ".join([*words[:position], _ADJECTIVES[gender], *words[position:]]), position + 1
        tags = {
            "entity": entity,
            "position": str(position),
            # The first noun phrase is the subject of these sentences.
            "role": "subject" if row.index <= 2 else "object",
            "stereotype": stereotype,
            # WinoBias is the part with a stereotype split; the rest, core's "they" apart, is Winogender.
            "corpus": "core" if selection.data == "core" else "winogender" if stereotype == "none" else "winobias",
            "contrast": contrast,
        }
        if entity in stereotype_of:
            tags["occupation_stereotype"] = (Gender.FEMININE if stereotype_of[entity] else Gender.MASCULINE).value
        group = entity if selection.cluster == "entity" else contrast
        yield Item(f"winomt-{index:04}", index, group, sentence, gender, tags)


def _contrast(sentence: str, entity: str) -> str:
    """What the he, she and they versions of a sentence have in common."""
    for pattern, instead in _AGREEING:
        sentence = pattern.sub(instead, sentence)
    return hashlib.sha256(f"{sentence}/{entity}".encode()).hexdigest()[:12]


def _bare(entity: str) -> str:
    """Without its article: files of 2019 write "The developer", later ones "developer"."""
    words = entity.split()
    return " ".join(words[1:] if words[0].lower() in _ARTICLES else words)


def _in_part(items: Sequence[Item], part: str, halves: Halves) -> list[Item]:
    """The items of one half in the order of its own file."""
    order = [_place_key(key) for key, found in halves.items() if part in found]
    place_of = {key: place for place, key in enumerate(order)}
    chosen = [item for item in items if item.tags["stereotype"] == part]
    return sorted(chosen, key=lambda item: place_of[_item_key(item)])


def _place_key(key: tuple[str, str, str]) -> tuple[str, str, str]:
    gender, sentence, entity = key
    return _GENDERS[gender].value, sentence, _bare(entity)


def _item_key(item: Item) -> tuple[str, str, str]:
    source = item.source
    for adjective in _ADJECTIVES.values():
        source = source.replace(f" {adjective} ", " ", 1) if f" {adjective} " in source else source
    return str(item.expected), source, item.tags["entity"]


def _official_rows(revision: str) -> tuple[list[Row], Halves, str]:
    source = official_files("winomt", revision)
    rows = _parse(source.path("data/aggregates/en.txt"))
    halves: dict[tuple[str, str, str], tuple[str, ...]] = {}
    for half in ("pro", "anti"):
        for row in _parse(source.path(f"data/aggregates/en_{half}.txt")):
            halves[row.key] = (*halves.get(row.key, ()), half)
    return rows, halves, f"official-{source.revision[:8]}-{source.content_hash[:8]}"


def _parse(path: object) -> list[Row]:
    return [
        parse_row(str(path), number, line.split("\t")) for number, line in enumerate(read_lines(str(path)), start=1)
    ]


def parse_row(path: str, number: int, fields: Sequence[str]) -> Row:
    if len(fields) != 4 or fields[0] not in _GENDERS or not fields[1].isdecimal() or not fields[3].strip():
        raise BadFile(
            path,
            "is not a WinoMT line (male, female or neutral; index of the noun; sentence; entity; tab-separated)",
            line=number,
        )
    return Row(fields[0], int(fields[1]), fields[2], fields[3])


def _core_rows() -> tuple[list[Row], str]:
    """Every template with every pair of a stereotypically male and a stereotypically female occupation, in both orders
    and with all three pronouns."""
    text = (files("gendermark.data") / "core" / "winomt" / "templates.tsv").read_text(encoding="utf-8")
    templates = [line.split("\t") for line in split_lines(text) if line and not line.startswith("#")][1:]
    men = [name for name, _, percent in core_occupations() if percent < 50]
    women = [name for name, _, percent in core_occupations() if percent > 50]
    rows = []
    for number, (referent, template) in enumerate(templates):
        for place, man in enumerate(men):
            # Another partner for every template, so that no two occupations always stand together.
            woman = women[(place + 3 * number) % len(women)]
            for first, second in ((man, woman), (woman, man)):
                for position, gender in enumerate(_GENDERS):
                    words = {kind: forms[position] for kind, forms in _PRONOUNS.items()}
                    sentence = template.format(first=first, second=second, **words)
                    entity = first if referent == "first" else second
                    index = sentence.split(" ").index(entity.split(" ")[0])
                    rows.append(Row(gender, index, sentence, entity))
    content = text + "".join(f"{name}{percent}" for name, _, percent in core_occupations())
    return rows, f"core-{hashlib.sha256(content.encode()).hexdigest()[:8]}"


def _core_halves(rows: Sequence[Row]) -> Halves:
    typical = {name: "female" if percent > 50 else "male" for name, _, percent in core_occupations()}
    return {
        row.key: ("pro" if row.gender == typical[row.entity] else "anti",) for row in rows if row.gender != "neutral"
    }


# -- judging ---------------------------------------------------------------------------------------------------------


def _judge_best(item_set: ItemSet, translations: Sequence[Translation]) -> list[Judgement]:
    finder = bundled_finder(item_set.selection.target_language)
    texts = [translation.text or "" for translation in translations]
    sources = [cut(item.source) for item in item_set.items]
    targets = [finder.language.cut(text) for text in texts]
    nouns = [_noun_position(item, words) for item, words in zip(item_set.items, sources, strict=True)]
    detector = open_detector(item_set.selection.detector)
    links = _LazyLinks(list(zip(sources, targets, strict=True)), nouns, item_set.selection.aligner)
    judgements = []
    for number, (item, words) in enumerate(zip(item_set.items, targets, strict=True)):
        reason = failure(item.source, translations[number].text)
        if reason:
            judgements.append(_judgement(item, Verdict.NOT_TRANSLATED, None, (), reason))
            continue
        finding = read_entity(
            finder,
            words,
            item.tags["entity"],
            partial(links.targets_of, number),
            nouns[number] / max(len(sources[number]) - 1, 1),
        )
        if detector is not None and finding.evidence:
            noun = finding.evidence[-1].split()[-1]
            finding = replace(finding, gender=detector.gender(texts[number], noun), reason="model")
        verdict = Verdict.JUDGED if finding.gender else Verdict.UNJUDGEABLE
        judgements.append(_judgement(item, verdict, finding.gender, finding.evidence, finding.reason))
    return judgements


def _noun_position(item: Item, words: Sequence[str]) -> int:
    """Where the entity's noun stands among the cut words of the source; the last word of a compound."""
    entity = cut(item.tags["entity"])
    near = int(item.tags["position"])
    places = [p for p in range(len(words) - len(entity) + 1) if list(words[p : p + len(entity)]) == entity]
    if not places:
        return min(near, len(words) - 1)
    return min(places, key=lambda place: abs(place - near)) + len(entity) - 1


class _LazyLinks:
    """Word alignment of the whole set in both directions, made when the first sentence needs it.

    A word that is linked to an entity once only, in all the sentences about it, is as likely chance as translation,
    and is left out: letters without sense must not be read as a person.
    """

    def __init__(self, pairs: Sequence[alignment.Pair], nouns: Sequence[int], aligner: str) -> None:
        self._pairs, self._nouns, self._aligner = pairs, nouns, aligner

    def targets_of(self, number: int) -> list[int]:
        """The target positions linked to the entity of one sentence."""
        found, support = self._linked
        source, target = self._pairs[number]
        noun = source[self._nouns[number]]
        return [place for place in found[number] if support[noun, target[place][:_STEM]] > 1]

    @cached_property
    def _linked(self) -> tuple[list[list[int]], Counter[tuple[str, str]]]:
        found: list[list[int]] = []
        support: Counter[tuple[str, str]] = Counter()
        both = zip(*align_both_ways(self._pairs, self._aligner), strict=True)
        for (source, target), noun, (forward, backward) in zip(self._pairs, self._nouns, both, strict=True):
            linked, linked_back = ({place for at, place in links if at == noun} for links in (forward, backward))
            places = sorted(linked & linked_back or linked or linked_back)
            found.append(places)
            support.update({(source[noun], target[place][:_STEM]) for place in places} if source else ())
        return found, support


def _judge_as_published(item_set: ItemSet, translations: Sequence[Translation]) -> list[Judgement]:
    selection = item_set.selection
    texts = [translation.text or "" for translation in translations]
    # As released: whitespace words, forward links, trained on the file that is scored.
    links = alignment.align([(i.source.split(), text.split()) for i, text in zip(item_set.items, texts, strict=True)])
    judgements = []
    for item, text, pair_links in zip(item_set.items, texts, links, strict=True):
        noun = int(item.tags["position"])
        source = item.source.split(" ")
        article = [noun - 1] if noun > 0 and source[noun - 1].lower() in _ARTICLES else []
        positions = [target for place in (*article, noun) for s, target in pair_links if s == place]
        all_words = text.split()
        words = [all_words[target].strip(published.PUNCTUATION) for target in positions]
        gender = published.published_gender(
            selection.target_language, selection.rules, words, positions, text, item.tags["entity"]
        )
        verdict = Verdict.JUDGED if gender else Verdict.UNJUDGEABLE
        judgements.append(_judgement(item, verdict, gender, tuple(words), "" if gender else "unaligned"))
    return judgements


def _judgement(
    item: Item, verdict: Verdict, observed: Gender | None, evidence: tuple[str, ...], reason: str
) -> Judgement:
    tags = {**item.tags, "reason": reason} if reason else item.tags
    return Judgement(item.item_id, item.index, item.group_id, verdict, item.expected, observed, tags, evidence)


def _slices_of(judgement: Judgement) -> Iterable[str]:
    tags = judgement.tags
    yield "all"
    if judgement.expected is not None:
        yield judgement.expected.value
        if judgement.expected is not Gender.NEUTRAL:
            yield "mf"
    if tags["stereotype"] != "none":
        yield tags["stereotype"]
        yield "stereotyped"
    yield tags["role"]
    if tags["corpus"] != "core":
        yield tags["corpus"]


# -- views -----------------------------------------------------------------------------------------------------------


def _seen(judgement: Judgement) -> str:
    return judgement.observed.value if judgement.observed else "unknown"


def _confusion(judgements: Sequence[Judgement]) -> Table:
    counts = Counter((str(judgement.expected), _seen(judgement)) for judgement in judgements)
    columns = (*(gender.value for gender in genders.GENDERS), "unknown")
    rows = [(gender.value, *(counts[gender.value, seen] for seen in columns)) for gender in genders.GENDERS]
    return Table("confusion", "Expected (rows) and observed (columns)", ("expected", *columns), rows)


def _per_entity(judgements: Sequence[Judgement]) -> Table:
    by_entity: dict[str, Counter[str]] = defaultdict(Counter)
    for judgement in judgements:
        by_entity[judgement.tags["entity"]][_seen(judgement)] += 1
        by_entity[judgement.tags["entity"]]["right"] += judgement.is_correct
    rows = []
    for entity, counts in sorted(by_entity.items()):
        seen = [counts[name] for name in ("masculine", "feminine", "neutral", "unknown")]
        named = [name for name in ("masculine", "feminine", "neutral") if counts[name]]
        pattern = f"always {named[0]}" if len(named) == 1 else "mixed" if named else "never found"
        rows.append((entity, sum(seen), *seen, counts["right"], pattern))
    columns = ("entity", "n", "masculine", "feminine", "neutral", "unknown", "right", "pattern")
    return Table("entities", "Gender per entity", columns, rows)


@cache
def _citation_forms(language: str) -> Mapping[tuple[str, str, str], str]:
    return citation_forms(lexicon(language))


BENCHMARK = WinoMt()
