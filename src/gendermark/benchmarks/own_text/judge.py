"""People in the user's own texts, the gender that their translations show, and the metrics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from gendermark import registry
from gendermark.benchmarks.benchmark import Answers, BenchmarkOf, Direction, ItemSet, Measures
from gendermark.benchmarks.own_text import Settings
from gendermark.data.own import file_of
from gendermark.errors import BadFile
from gendermark.io.pairs import read_pairs
from gendermark.io.textfiles import content_hash
from gendermark.metrics.metric import Metric, described, difference, per_judgement, rate
from gendermark.metrics.verdicts import LEAST_GROUPS
from gendermark.reading.failures import failure
from gendermark.reading.people import people_in_all
from gendermark.reading.reader import Person, read_all, version
from gendermark.reading.target import has_translation
from gendermark.records import Gender, Item, Judgement, Table, Verdict


def load(settings: Settings) -> ItemSet:
    path = file_of(settings.data)
    tables = read_pairs(path)
    # A repeated text is requested once.
    rows = {
        source: (line, group)
        for pairs in tables
        for line, source, group in zip(pairs.lines, pairs.sources, pairs.groups, strict=True)
    }
    # Texts of one file vary together, but a few files do not show how files vary.
    by_file = len({group for _, group in rows.values()}) >= LEAST_GROUPS
    items: list[Item] = []
    everybody = people_in_all(list(rows), settings.parser)
    for number, ((source, (line, group)), people) in enumerate(zip(rows.items(), everybody, strict=True)):
        for person in people:
            index = len(items)
            tags = {
                "kind": person.kind if person.kind in ("addressee", "speaker") else "person",
                "start": str(person.start),
                "end": str(person.end),
                **({"line": str(line)} if line is not None else {}),
            }
            group_id = group if by_file else f"text-{number:05}"
            items.append(Item(f"person-{index:05}", index, group_id, source, person.gender, tags, entity=person.text))
    if not items:
        raise BadFile(path, f"mentions no person in its {len(rows):,} English texts; there is nothing to report")
    return ItemSet(settings, tuple(items), f"file-{content_hash(path)[:8]}")


def judge(item_set: ItemSet, answers: Answers) -> list[Judgement]:
    """One judgement for each person; each text is read once."""
    pairs = [(item, samples[0].text or "") for item, samples in zip(item_set.items, answers, strict=True)]
    failures = [failure(item.source, text) for item, text in pairs]
    texts = list(
        dict.fromkeys((item.source, text) for (item, text), why in zip(pairs, failures, strict=True) if not why)
    )
    settings: Settings = item_set.selection
    sources, translations = [source for source, _ in texts], [text for _, text in texts]
    people = read_all(sources, translations, settings.target_language, settings.parser)
    read = {
        (*pair, str(person.start), str(person.end)): person
        for pair, found in zip(texts, people, strict=True)
        for person in found
    }
    return [
        Judgement.of(item, Verdict.NOT_TRANSLATED, reason=why)
        if why
        else _judgement(item, text, read[item.source, text, item.tags["start"], item.tags["end"]])
        for (item, text), why in zip(pairs, failures, strict=True)
    ]


def _judgement(item: Item, text: str, person: Person) -> Judgement:
    words = tuple(text[start:end] for start, end in person.evidence)
    facts: dict[str, Any] = {"evidence": words, "spans": person.evidence}
    if person.target_state != "shown":
        reason = "not-shown" if person.target_state == "not_shown" else "unclear"
        return Judgement.of(item, Verdict.UNJUDGEABLE, reason=reason, outcome="undecided", **facts)
    if person.target_gender == "mixed":
        return Judgement.of(item, Verdict.UNJUDGEABLE, reason="mixed", outcome="mixed", **facts)
    outcome = "" if item.expected else "open"
    return Judgement.of(item, Verdict.JUDGED, Gender(str(person.target_gender)), outcome=outcome, **facts)


def fit(item: Item, text: str, settings: Settings) -> float | None:
    """Share of names, numbers and placeholders that a text has, and whether it translates the person's noun."""
    words = {word.strip(".,;:!?\"'()“”‘’") for word in item.source.split()[1:]}
    kept = {word for word in words if len(word) > 2 and (word[0].isupper() or word[0] in "%{$<" or word.isdigit())}
    found = [word in text for word in kept]
    if (noun := has_translation(item.entity, text, settings.target_language)) is not None:
        found.append(noun)
    return sum(found) / len(found) if found else None


def language_pairs(data: str) -> list[Direction]:
    return [("en", code) for code in registry.names("language")] if data.startswith("file:") else []


def render(item: Item, gender: Gender, settings: Settings) -> str:  # noqa: ARG001
    return "…"


# -- measures ----------------------------------------------------------------------------------------------------------

GIVEN, OPEN = "given", "unspecified"
"""People of specified gender, and the others."""
_MOST_WORDS = 30

DESCRIBED = described(__package__)


def _columns(judgement: Judgement) -> Iterable[str]:
    parts = [GIVEN, str(judgement.expected)] if judgement.expected else [OPEN, judgement.tags["kind"]]
    kinds = ["total"]
    if judgement.verdict is Verdict.JUDGED:
        kinds += ["read", "shown", str(judgement.observed)]
        if judgement.is_correct:
            kinds.append("kept")
    elif judgement.outcome == "mixed":
        kinds += ["read", "shown"]
    elif judgement.reason == "not-shown":
        kinds += ["read", "not_shown"]
    return (f"{part}.{kind}" for part in ("all", *parts) for kind in kinds)


def _share(name: str, part: str, kind: str, of: str) -> Metric:
    """A share whose `n_judged` and `n_total` are the people that it is a share of."""
    total = f"{part}.{of}"
    return rate(DESCRIBED[name], part, f"{part}.{kind}", total, judged=total)


def metrics(judgements: Sequence[Judgement], settings: Settings) -> list[Metric]:  # noqa: ARG001
    found = [rate(DESCRIBED["coverage"], "all", "all.read", "all.total", judged="all.read")]
    men, women = (_share("kept", part, "kept", "shown") for part in ("masculine", "feminine"))
    present = {judgement.expected for judgement in judgements}
    if present - {None}:
        found.append(replace(_share("kept", GIVEN, "kept", "shown"), slice="all"))
    found += [metric for metric, gender in ((men, Gender.MASCULINE), (women, Gender.FEMININE)) if gender in present]
    if {Gender.MASCULINE, Gender.FEMININE} <= present:
        found.append(_gap("kept_gap", men, women, f"{GIVEN}.shown"))
    if None in present:
        men, women = (_share(f"shown_{kind}", OPEN, kind, "read") for kind in ("masculine", "feminine"))
        found.append(_gap("imbalance", men, women, f"{OPEN}.read"))
        kinds = sorted({judgement.tags["kind"] for judgement in judgements if judgement.expected is None})
        for part in (OPEN, *(kinds if len(kinds) > 1 else ())):
            shares = (("shown_masculine", "masculine"), ("shown_feminine", "feminine"), ("not_shown", "not_shown"))
            found += [_share(name, part, kind, "read") for name, kind in shares]
    return found


def _gap(name: str, men: Metric, women: Metric, total: str) -> Metric:
    return replace(difference(DESCRIBED[name], men, women, ""), total=total, judged=total)


def tables(judgements: Sequence[Judgement]) -> list[Table]:
    """The words that show a gender absent from the source: the defaults of a translation."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for judgement in judgements:
        if judgement.expected is None and judgement.observed is not None:
            words = " ".join(dict.fromkeys(word.casefold() for word in judgement.evidence))
            counts[judgement.entity.casefold(), words, str(judgement.observed)] += 1
    rows = [(*key, n) for key, n in counts.most_common(_MOST_WORDS)]
    columns = ("source", "translation", "gender", "n")
    return [
        Table(
            "defaults", "Words that show a gender the source does not specify (first names specify none)", columns, rows
        )
    ]


SLICES = {OPEN: "unspecified gender", "person": "third person", "addressee": "addressees", "speaker": "speakers"}

MEASURES = Measures(
    described=tuple(DESCRIBED.values()),
    headline=("kept:all", "kept_gap", "imbalance", "coverage:all"),
    questions=("kept_gap", "imbalance"),
    tally=per_judgement(_columns),
    metrics=metrics,
    tables=tables,
    slices=SLICES,
)


BENCHMARK = BenchmarkOf(
    name="own-text",
    title="Own texts",
    question="Do translations of your own texts keep the gender the source specifies, and add none?",
    settings=Settings,
    rules_version=2,
    language_pairs=language_pairs,
    load=load,
    judge=judge,
    measures=MEASURES,
    render=render,
    findings="gendermark.benchmarks.own_text.findings:PRESENTATION",
    fit=fit,
    signature=lambda settings: {"reader": version(settings.parser)},
    paper="The gendermark authors. gendermark: gender bias in machine translation, with honest error bars.",
    only_when_named=True,
    reads_any_text=True,
)
