"""SimpleGEN: is an occupation noun translated with the gender its sentence states? (Renduchintala et al. 2021, ACL)

Sentences come from templates: an occupation of stereotypically female or male holders (fo, mo) in a sentence that
says plainly that the person is a woman or a man (fc, mc). The translation is looked up in a dictionary of occupation
nouns: right gender, wrong gender, or inconclusive.

Rules `paper` are the released evaluation, errors of its dictionary included. Rules `best` use this project's lexicon
in thirteen languages, with case forms, articles and agreeing words.
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from itertools import product

from gendermark import registry
from gendermark.benchmarks.benchmark import Benchmark, ItemSet, Selection
from gendermark.data.official import official_files
from gendermark.errors import UserError
from gendermark.linguistics.failures import failure
from gendermark.linguistics.occupations import bundled_finder, citation_forms, core_occupations, lexicon
from gendermark.metrics.metric import Metric, Tally, per_judgement
from gendermark.metrics.rates import difference, rate
from gendermark.records import Gender, Item, Judgement, Table, Translation, Verdict
from gendermark.textfiles import read_lines, read_text, split_lines

GROUPS = ("fofc", "momc", "fomc", "mofc")
PRO, ANTI = ("fofc", "momc"), ("fomc", "mofc")
OUTCOMES = ("correct", "incorrect", "inconclusive")
OFFICIAL_DICTIONARIES = ("de", "es")
_GENDERS = {"f": Gender.FEMININE, "m": Gender.MASCULINE}
_KEYWORD = re.compile(r"\[([^\]]+)\]")
_FAILED_SHARE_TO_WARN = 0.2


@dataclass(frozen=True, slots=True)
class Term:
    """A word that can fill a keyword of a template; occupations also know their dictionary entry and number."""

    text: str
    occupation: str = ""
    number: str = ""


Terms = Mapping[str, Sequence[Term]]


class SimpleGen(Benchmark):
    name = "simplegen"
    title = "SimpleGEN: occupation nouns take the gender the sentence states"
    rules = ("best", "paper")
    rules_version = 1
    part_noun = "group"
    parts = GROUPS
    clusters = ("occupation", "template")
    headline = ("pro", "anti", "delta")

    def language_pairs(self, data: str) -> list[tuple[str, str]]:  # noqa: ARG002
        return [("en", code) for code in registry.names("language")]

    def complete(self, selection: Selection) -> Selection:
        selection = super().complete(selection)
        if selection.rules == "paper" and selection.target_language not in OFFICIAL_DICTIONARIES:
            raise UserError(
                f"the published dictionary of simplegen covers {' and '.join(OFFICIAL_DICTIONARIES)}, not "
                f"{selection.target_language}; use --rules best"
            )
        return selection

    def load(self, selection: Selection) -> ItemSet:
        if selection.data == "core":
            terms, templates, origin = _core_sources()
        else:
            terms, templates, origin = _official_sources(selection.revision)
        items: list[Item] = []
        for group in selection.parts or GROUPS:
            items.extend(
                _group_items(
                    group, templates[group], terms, selection.cluster, start=0 if selection.parts else len(items)
                )
            )
        return ItemSet(selection, tuple(items), origin)

    def judge(self, item_set: ItemSet, translations: Sequence[Translation]) -> list[Judgement]:
        selection = item_set.selection
        pairs = zip(item_set.items, translations, strict=True)
        if selection.rules == "paper":
            return [
                _judge_as_paper(item, translation.text, _paper_dictionary(selection)) for item, translation in pairs
            ]
        # Where the paper has a dictionary, its verdict is kept beside ours, so that a difference can be seen.
        published = selection.data == "official" and selection.target_language in OFFICIAL_DICTIONARIES
        dictionary = _paper_dictionary(selection) if published else None
        return [
            _judge_best(item, translation.text, selection.target_language, dictionary) for item, translation in pairs
        ]

    def tally(self, selection: Selection) -> Tally:  # noqa: ARG002
        return per_judgement(_columns_of)

    def metrics(self, judgements: Sequence[Judgement], selection: Selection) -> list[Metric]:  # noqa: ARG002
        present = {judgement.tags["group"] for judgement in judgements}
        found: list[Metric] = []
        correct = {name: _share("correct", name, "correct", better="higher") for name in (*GROUPS, "pro", "anti")}
        halves = {name: groups for name, groups in (("pro", PRO), ("anti", ANTI)) if present >= set(groups)}
        found.extend(replace(correct[name], name=name, slice="all") for name in halves)
        if len(halves) == 2:
            found.append(_gap("delta", correct["pro"], correct["anti"], "all", is_undefined_without_hits=True))
        for name, first, second in (("delta_fc", "fofc", "mofc"), ("delta_mc", "momc", "fomc")):
            if {first, second} <= present:
                found.append(_gap(name, correct[first], correct[second], name.removeprefix("delta_")))
        # Not in the paper: a system that makes everybody a man has no gap between pro and anti, but one here.
        found.extend(
            _share("correct", context, "correct", better="higher")
            for context in ("fc", "mc")
            if {f"fo{context}", f"mo{context}"} <= present
        )
        if present >= set(GROUPS):
            found.append(_share("correct", "all", "correct", better="higher"))
            men, women = (_share("correct", context, "correct", better="higher") for context in ("mc", "fc"))
            found.append(_gap("recall_gap", men, women, "all", is_undefined_without_hits=True))
        for group in GROUPS:
            if group in present:
                found.extend(
                    _share(kind, group, kind, better="higher" if kind == "correct" else "neither") for kind in OUTCOMES
                )
        return found

    def render(self, item: Item, gender: Gender, selection: Selection) -> str:
        occupation, number = item.tags["occupation"], item.tags["number"]
        if gender is Gender.NEUTRAL:
            return "…"
        if selection.rules == "paper":
            form = _paper_dictionary(selection)[item.tags["entry"]].first[gender]
        else:
            form = _citation_forms(selection.target_language)[occupation, gender.value, number]
        return f"{form[:1].upper()}{form[1:]}."

    def fit(self, item: Item, text: str, selection: Selection) -> float | None:
        return float(bundled_finder(selection.target_language).find(text, item.tags["occupation"]).reason != "absent")

    def stratum(self, judgement: Judgement, selection: Selection) -> str:
        return judgement.tags["stereotype"] if selection.cluster == "occupation" else ""

    def tables(self, judgements: Sequence[Judgement]) -> list[Table]:
        by_occupation: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        for judgement in judgements:
            key = (judgement.tags["occupation"], judgement.tags["stereotype"])
            by_occupation[key][f"{judgement.expected}.{_outcome(judgement)}"] += 1
            by_occupation[key][f"{judgement.expected}.total"] += 1
        rows = []
        for (occupation, stereotype), counts in by_occupation.items():
            shares = [
                round(100 * counts[f"{gender}.correct"] / total, 1) if (total := counts[f"{gender}.total"]) else None
                for gender in (Gender.FEMININE, Gender.MASCULINE)
            ]
            n_inconclusive = sum(counts[f"{gender}.inconclusive"] for gender in (Gender.FEMININE, Gender.MASCULINE))
            rows.append(
                (occupation, stereotype, *shares, n_inconclusive, counts["feminine.total"] + counts["masculine.total"])
            )
        columns = ("occupation", "stereotype", "correct for women", "correct for men", "inconclusive", "n")
        tables = [Table("occupations", "Percent correct per occupation", columns, sorted(rows))]
        if any("paper_outcome" in judgement.tags for judgement in judgements):
            tables.append(_rules_compared(judgements))
        return tables

    def warnings(self, judgements: Sequence[Judgement], selection: Selection) -> list[str]:  # noqa: ARG002
        n_failed = sum(judgement.tags.get("reason") in ("error", "empty", "copied") for judgement in judgements)
        if n_failed > _FAILED_SHARE_TO_WARN * len(judgements):
            return [
                f"{n_failed:,} of {len(judgements):,} outputs are empty, failed or a copy of the source; "
                "they count as inconclusive"
            ]
        return []


def _share(metric: str, name: str, kind: str, *, better: str) -> Metric:
    return rate(metric, name, f"{name}.{kind}", f"{name}.total", judged=f"{name}.judged", better=better)


def _gap(name: str, first: Metric, second: Metric, both: str, *, is_undefined_without_hits: bool = False) -> Metric:
    columns = {"total": f"{both}.total", "judged": f"{both}.judged"}
    return difference(name, "all", first, second, **columns, is_undefined_without_hits=is_undefined_without_hits)


def _outcome(judgement: Judgement) -> str:
    if judgement.observed is None:
        return "inconclusive"
    return "correct" if judgement.is_correct else "incorrect"


def _columns_of(judgement: Judgement) -> Iterable[str]:
    group = judgement.tags["group"]
    outcome = _outcome(judgement)
    for name in (group, "pro" if group in PRO else "anti", group[2:], "all"):
        yield f"{name}.total"
        yield f"{name}.{outcome}"
        if judgement.verdict is Verdict.JUDGED:
            yield f"{name}.judged"


def _rules_compared(judgements: Sequence[Judgement]) -> Table:
    """Ours and the paper's verdicts side by side; they differ where the dictionary errs or lacks a form."""
    rows = []
    for group in GROUPS:
        ours = [_outcome(judgement) for judgement in judgements if judgement.tags["group"] == group]
        papers = [judgement.tags["paper_outcome"] for judgement in judgements if judgement.tags["group"] == group]
        if ours:
            n_differ = sum(a != b for a, b in zip(ours, papers, strict=True))
            rows.append((group, *(n for kind in OUTCOMES for n in (ours.count(kind), papers.count(kind))), n_differ))
    columns = ("group", *(f"{kind} ({rules})" for kind in OUTCOMES for rules in ("best", "paper")), "differ")
    return Table("rules", "Verdicts under both rule sets", columns, rows)


# -- judging ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Entry:
    """One row of a dictionary: what is searched for, and the first form of each gender."""

    patterns: tuple[tuple[Gender, re.Pattern[str]], ...]
    first: Mapping[Gender, str]


def _entry(masculine: Sequence[str], feminine: Sequence[str], as_pattern: Callable[[str], str] = str) -> _Entry:
    # As released: forms are not escaped, text and forms are lower-cased, and masculine is looked for first.
    return _Entry(
        tuple(
            (gender, re.compile("|".join(rf"\b{as_pattern(form.lower())}\b" for form in forms)))
            for gender, forms in ((Gender.MASCULINE, masculine), (Gender.FEMININE, feminine))
        ),
        {Gender.MASCULINE: masculine[0], Gender.FEMININE: feminine[0]},
    )


def _judge_as_paper(item: Item, text: str | None, dictionary: Mapping[str, _Entry]) -> Judgement:
    observed, evidence = _look_up_as_paper(item, text, dictionary)
    verdict = Verdict.JUDGED if observed else Verdict.UNJUDGEABLE
    tags = item.tags
    if observed is None and (reason := failure(item.source, text)):
        verdict, tags = Verdict.NOT_TRANSLATED, {**item.tags, "reason": reason}
    return Judgement(item.item_id, item.index, item.group_id, verdict, item.expected, observed, tags, evidence)


def _look_up_as_paper(
    item: Item, text: str | None, dictionary: Mapping[str, _Entry]
) -> tuple[Gender | None, tuple[str, ...]]:
    lowered = (text or "").lower()
    for gender, pattern in dictionary[item.tags["entry"]].patterns:
        if match := pattern.search(lowered):
            return gender, (match.group(),)
    return None, ()


def _judge_best(item: Item, text: str | None, language: str, published: Mapping[str, _Entry] | None) -> Judgement:
    tags = dict(item.tags)
    if published is not None:
        observed, _ = _look_up_as_paper(item, text, published)
        tags["paper_outcome"] = (
            "inconclusive" if observed is None else "correct" if observed == item.expected else "incorrect"
        )
    reason = failure(item.source, text)
    if reason or text is None:
        tags["reason"] = reason or "error"
        return Judgement(item.item_id, item.index, item.group_id, Verdict.NOT_TRANSLATED, item.expected, None, tags)
    finding = bundled_finder(language).find(text, item.tags["occupation"])
    if finding.gender is None:
        tags["reason"] = finding.reason
    verdict = Verdict.JUDGED if finding.gender else Verdict.UNJUDGEABLE
    return Judgement(
        item.item_id, item.index, item.group_id, verdict, item.expected, finding.gender, tags, finding.evidence
    )


@cache
def _citation_forms(language: str) -> Mapping[tuple[str, str, str], str]:
    return citation_forms(lexicon(language))


@cache
def _paper_dictionary(selection: Selection) -> Mapping[str, _Entry]:
    """English word as it stands in the source -> its target forms, for the published algorithm."""
    if selection.data == "official":
        return _official_dictionary(selection.revision, selection.target_language)
    plural_of = {occupation: plural for occupation, plural, _ in core_occupations()}
    forms: dict[tuple[str, str], list[str]] = defaultdict(list)
    for entry in lexicon(selection.target_language):
        if entry.occupation in plural_of and entry.gender in ("masculine", "feminine"):
            english = entry.occupation if entry.number == "singular" else plural_of[entry.occupation]
            forms[english, entry.gender].extend(entry.forms)
    return {
        english: _entry(forms[english, "masculine"], forms[english, "feminine"], re.escape)
        for english in {key for key, _ in forms}
    }


def _official_dictionary(revision: str, language: str) -> Mapping[str, _Entry]:
    path = official_files("simplegen", revision).path(f"dictionaries/dictionary-en-{language}-new.csv")
    rows = csv.reader(io.StringIO(read_text(path)))
    next(rows)  # the header names the columns: English, masculine, feminine
    return {english: _entry(masculine.split("|"), feminine.split("|")) for english, masculine, feminine in rows}


# -- generating ------------------------------------------------------------------------------------------------------


def _group_items(group: str, templates: Sequence[str], terms: Terms, cluster: str, start: int) -> Iterable[Item]:
    """The sentences of one group: every template with every combination of its terms."""
    occupation_gender, context_gender = _GENDERS[group[0]], _GENDERS[group[2]]
    number = 0
    for template_number, template in enumerate(templates, start=1):
        for sentence, term in _expand(template, terms):
            tags = {
                "group": group,
                "occupation": term.occupation,
                "entry": term.text if term.number == "plural" else term.occupation,
                "number": term.number,
                "template": f"template-{template_number:02}",
                "stereotype": occupation_gender.value,
                "context": context_gender.value,
            }
            yield Item(f"{group}-{number:04}", start + number, tags[cluster], sentence, context_gender, tags)
            number += 1


def _expand(template: str, terms: Terms) -> Iterable[tuple[str, Term]]:
    """Every sentence that a template makes, with the occupation in it."""
    keywords = list(dict.fromkeys(_KEYWORD.findall(template)))
    for combination in product(*(terms[keyword] for keyword in keywords)):
        chosen = dict(zip(keywords, combination, strict=True))
        text = _KEYWORD.sub(lambda match: chosen[match.group(1)].text, template)  # noqa: B023 (used at once)
        occupation = next(term for term in combination if term.occupation)
        yield _detokenise(text[:1].upper() + text[1:]), occupation


def _detokenise(text: str) -> str:
    for spaced, joined in ((" &apos;s", "'s"), (" .", "."), (" !", "!"), (" ,", ",")):
        text = text.replace(spaced, joined)
    return text


def _official_sources(revision: str) -> tuple[Terms, Mapping[str, Sequence[str]], str]:
    source = official_files("simplegen", revision)
    table: dict[str, list[str]] = {}
    for line in read_lines(source.path("terms.txt")):
        keyword, *words = (part.strip() for part in line.split(","))
        table[keyword] = [word for word in words if word]
    terms = {keyword: [_official_term(word, keyword, table) for word in words] for keyword, words in table.items()}
    templates = {group: read_lines(source.path(f"templates/{group}.txt")) for group in GROUPS}
    return terms, templates, f"official-{source.revision[:8]}-{source.content_hash[:8]}"


def _official_term(word: str, keyword: str, table: Mapping[str, Sequence[str]]) -> Term:
    letter, _, kind = keyword.partition("-")
    if not kind.startswith("occupation"):
        return Term(word)
    if "-pl" in kind:
        singular = table[f"{letter}-occupation-sg"][table[f"{letter}-occupation-pl"].index(word)]
        return Term(word, singular, "plural")
    return Term(word, word, "singular")


def _core_text(path: str) -> str:
    return (files("gendermark.data") / "core" / path).read_text(encoding="utf-8")


def _core_sources() -> tuple[Terms, Mapping[str, Sequence[str]], str]:
    terms: dict[str, list[Term]] = defaultdict(list)
    for line in split_lines(_core_text("simplegen/terms.txt")):
        keyword, *words = (part.strip() for part in line.split(","))
        terms[keyword] = [Term(word) for word in words]
    for occupation, plural, percent_women in core_occupations():
        letter = "f" if percent_women > 50 else "m"
        # "an editor", but "a CEO": the initials are spelled out, and C begins with a consonant
        article = "an" if occupation[0] in "aeiou" else "a"
        terms[f"{letter}-occupation-sg"].append(Term(occupation, occupation, "singular"))
        terms[f"{letter}-occupation-sg-article"].append(Term(f"{article} {occupation}", occupation, "singular"))
        terms[f"{letter}-occupation-pl"].append(Term(plural, occupation, "plural"))
    lines = split_lines(_core_text("simplegen/templates.txt"))
    templates = {
        group: [line.replace("[o-", f"[{group[0]}-").replace("[c-", f"[{group[2]}-") for line in lines]
        for group in GROUPS
    }
    content = "".join(
        _core_text(path) for path in ("simplegen/terms.txt", "simplegen/templates.txt", "occupations.tsv")
    )
    return terms, templates, f"core-{hashlib.sha256(content.encode()).hexdigest()[:8]}"


BENCHMARK = SimpleGen()
