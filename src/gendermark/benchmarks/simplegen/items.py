"""SimpleGEN's sentences, from templates and terms: the official ones, or our own."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from gendermark.benchmarks.benchmark import ItemSet
from gendermark.benchmarks.simplegen import GROUPS, Settings
from gendermark.data.bundled import core_lines, core_origin, core_text
from gendermark.data.official import official_files
from gendermark.data.own import file_of, read_own
from gendermark.io.textfiles import read_lines
from gendermark.reading.occupations import core_occupations, lexicon
from gendermark.records import Gender, Item

_GENDERS = {"f": Gender.FEMININE, "m": Gender.MASCULINE}
_KEYWORD = re.compile(r"\[([^\]]+)\]")


@dataclass(frozen=True, slots=True)
class Term:
    """A word for a slot of a template; occupations also have their dictionary entry and number."""

    text: str
    occupation: str = ""
    number: str = ""


Terms = Mapping[str, Sequence[Term]]


def load(settings: Settings) -> ItemSet:
    if path := file_of(settings.data):
        return _own(path, settings)
    if settings.data == "core":
        terms, templates, origin = _core_sources()
    else:
        terms, templates, origin = _official_sources(settings.revision)
    items: list[Item] = []
    for group in settings.parts or GROUPS:
        start = 0 if settings.parts else len(items)
        items.extend(_group_items(group, templates[group], terms, settings.cluster, start))
    return ItemSet(settings, tuple(items), origin)


def _own(path: str, settings: Settings) -> ItemSet:
    typical = {name: Gender.FEMININE if percent > 50 else Gender.MASCULINE for name, _, percent in core_occupations()}
    known = {entry.occupation for entry in lexicon(settings.target_language)}
    rows, origin = read_own(path, ("source", "gender", "entity"))
    items = []
    for index, row in enumerate(rows):
        entity, context = row["entity"], row.gender((Gender.MASCULINE, Gender.FEMININE))
        if entity not in known:
            raise row.problem(
                f"has the occupation {entity!r}, which our lexicon lacks; it has {', '.join(sorted(known))}"
            )
        default = typical[entity].value if entity in typical else ""
        stereotype = Gender(row.one_of("stereotype", ("masculine", "feminine"), default))
        number = row.one_of("number", ("singular", "plural"), "singular")
        group = f"{'f' if stereotype is Gender.FEMININE else 'm'}o{'f' if context is Gender.FEMININE else 'm'}c"
        tags = {
            "group": group,
            "occupation": entity,
            "entry": entity,
            "number": number,
            "template": row["group"] or f"sentence-{index:04}",
            "stereotype": stereotype.value,
            "context": context.value,
        }
        group_id = tags[settings.cluster]
        items.append(Item(f"own-{index:04}", index, group_id, row["source"], context, tags, entity=entity))
    wanted = [item for item in items if not settings.parts or item.tags["group"] in settings.parts]
    return ItemSet(settings, tuple(replace(item, index=index) for index, item in enumerate(wanted)), origin)


def _group_items(group: str, templates: Sequence[str], terms: Terms, cluster: str, start: int) -> Iterable[Item]:
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
            group_id, item_id = tags[cluster], f"{group}-{number:04}"
            yield Item(item_id, start + number, group_id, sentence, context_gender, tags, entity=term.occupation)
            number += 1


def _expand(template: str, terms: Terms) -> Iterable[tuple[str, Term]]:
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
    return terms, templates, source.origin


def _official_term(word: str, keyword: str, table: Mapping[str, Sequence[str]]) -> Term:
    letter, _, kind = keyword.partition("-")
    if not kind.startswith("occupation"):
        return Term(word)
    if "-pl" in kind:
        singular = table[f"{letter}-occupation-sg"][table[f"{letter}-occupation-pl"].index(word)]
        return Term(word, singular, "plural")
    return Term(word, word, "singular")


def _core_sources() -> tuple[Terms, Mapping[str, Sequence[str]], str]:
    terms: dict[str, list[Term]] = defaultdict(list)
    for line in core_lines("simplegen/terms.txt"):
        keyword, *words = (part.strip() for part in line.split(","))
        terms[keyword] = [Term(word) for word in words]
    for occupation, plural, percent_women in core_occupations():
        letter = "f" if percent_women > 50 else "m"
        # "an editor", but "a CEO", whose first letter is pronounced with a consonant
        article = "an" if occupation[0] in "aeiou" else "a"
        terms[f"{letter}-occupation-sg"].append(Term(occupation, occupation, "singular"))
        terms[f"{letter}-occupation-sg-article"].append(Term(f"{article} {occupation}", occupation, "singular"))
        terms[f"{letter}-occupation-pl"].append(Term(plural, occupation, "plural"))
    lines = core_lines("simplegen/templates.txt")
    templates = {
        group: [line.replace("[o-", f"[{group[0]}-").replace("[c-", f"[{group[2]}-") for line in lines]
        for group in GROUPS
    }
    names = ("simplegen/terms.txt", "simplegen/templates.txt", "occupations.tsv")
    return terms, templates, core_origin(*map(core_text, names))
