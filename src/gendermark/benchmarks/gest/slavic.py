"""What was mended of `suffix` for Czech, Polish, Russian and Ukrainian after its verdicts were checked blind.

The check (docs/benchmarks/gest.md) found hardly any wrong verdict, but genders that were not seen, most of them
masculine. What is added here follows the grammar of each language: conditional conjunctions that hold the first person
("abych", "żebym"), short adjectives ("jist", "gotów", «молод»), future tenses ("będę spała"), adjectives as predicates,
and those in the instrumental («чувствую себя слабой»). The other five languages are as `suffix` has them: nobody
checked them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from gendermark.benchmarks.gest.suffix import (
    NO_ENDINGS,
    SUFFIX,
    Clause,
    Cue,
    Endings,
    Grammar,
    behind_pronoun,
    beside,
    in_the_verb,
    words,
)

# -- Czech -------------------------------------------------------------------------------------------------------------

_CS = SUFFIX["cs"]
_CZECH = replace(
    _CS,
    markers=(*_CS.markers, "abych", "kdybych", "budu", "nebudu"),
    # Short adjectives and passive participles: "jsem přesvědčen", "jsem si vědoma".
    adjective=Endings(
        "...ý|...en|...án",
        "...á|...ena|...ána",
        words("jist vědom zdráv zvědav"),
        words("jista vědoma zdráva zvědava schopna povinna ochotna"),
    ),
    stop=_CS.stop
    | words("každý každá žádný žádná nějaký nějaká celý celá který která")
    | words("týden jeden všechen blázen kámen kořen pramen plamen leden duben květen červen srpen říjen březen")
    | words("ramena kolena písmena semena plemena břemena román"),
)

# -- Polish ------------------------------------------------------------------------------------------------------------

_PL = SUFFIX["pl"]
_L_FORMS = Endings("..ł", "..ła")
_BEFORE_L_FORMS = words("będę bym żebym abym jakbym ażebym")


def _polish(grammar: Grammar, clauses: Sequence[Clause]) -> Iterator[Cue]:
    found = list(in_the_verb(grammar, clauses))
    for clause in clauses:
        if any(token.word in _BEFORE_L_FORMS for token in clause):
            found += [cue for token in clause if (cue := grammar.read(_L_FORMS, token))]
    yield from found or beside(grammar, clauses, "będę", 3)


_POLISH = replace(
    _PL,
    find=_polish,
    participle=replace(
        _PL.participle, masculine_words=words("powinienem winienem"), feminine_words=words("powinnam winnam")
    ),
    adjective=replace(
        _PL.adjective,
        masculine_words=words("pewien gotów zdrów ciekaw wart świadom pełen wesół winien godzien"),
    ),
    stop=_PL.stop | words("nigdy wtedy szkoła siła chwała artykuł pomysł umysł zespół stół kościół ogół materiał"),
    prepositions=words("bez dla do na nad o od po pod przed przez przy u w we z ze między"),
)

# -- Russian and Ukrainian ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Predicates:
    """What the speaker is said to be, right behind the pronoun or a verb of being."""

    short: Endings
    """Words that are predicates only."""
    full: Endings
    """Words that may also go with a noun; with none behind them they are predicates."""
    instrumental: Endings
    particles: frozenset[str]
    """What may stand between pronoun and predicate; adverbs too."""
    adverb: str
    joining: frozenset[str]
    before_none: frozenset[str]
    """Prepositions and conjunctions: the word before one of them goes with no noun."""
    feeling: frozenset[str]
    """Verbs of the first person with the instrumental, alone or with `self_`."""
    self_: str
    being: frozenset[str]
    """Infinitives and others with the instrumental; whose it is is said by a controller in front of them."""
    controllers: frozenset[str]
    others: frozenset[str]
    """Somebody else whom such an infinitive may belong to."""
    glad: Endings
    """What a clause without pronoun can begin with."""
    infinitive: str = "^$"
    """It goes with a predicate too: "ready to leave"."""
    adjacent: Endings = NO_ENDINGS
    """Verb forms that look like nouns; right behind the pronoun they are verbs."""


def _east(about: _Predicates) -> Callable[[Grammar, Sequence[Clause]], Iterator[Cue]]:
    is_adverb, is_infinitive = re.compile(about.adverb), re.compile(about.infinitive)

    def behind(clause: Clause, place: int) -> int:
        while place < len(clause) and (clause[place].word in about.particles or is_adverb.search(clause[place].word)):
            place += 1
        return place

    def stands_alone(grammar: Grammar, endings: Endings, clause: Clause, place: int) -> bool:
        if place + 1 == len(clause):
            return True
        after = clause[place + 1].word
        if after in about.joining:  # "strong and quick", but not "a strong and quick leader"
            other = behind(clause, place + 2)
            if other < len(clause) and grammar.read(endings, clause[other]):
                return stands_alone(grammar, endings, clause, other)
        return after in about.joining or after in about.before_none or is_infinitive.search(after) is not None

    def predicate(grammar: Grammar, clause: Clause, start: int) -> Cue | None:
        place = behind(clause, start)
        if place == len(clause):
            return None
        cue = grammar.read(about.adjacent, clause[place]) or grammar.read(about.short, clause[place])
        if cue is None and stands_alone(grammar, about.full, clause, place):
            cue = grammar.read(about.full, clause[place])
        return cue

    def instrumental(grammar: Grammar, clause: Clause) -> Iterator[Cue]:
        is_ours = False
        for place, token in enumerate(clause):
            is_ours = (is_ours or token.word in about.controllers) and token.word not in about.others
            if token.word in about.feeling or (is_ours and token.word in about.being):
                start = behind(clause, place + 1)
                if start < len(clause) and clause[start].word == about.self_:
                    start = behind(clause, start + 1)
                if start < len(clause) and stands_alone(grammar, about.instrumental, clause, start):
                    cue = grammar.read(about.instrumental, clause[start])
                    if cue:
                        yield cue

    def find(grammar: Grammar, clauses: Sequence[Clause]) -> Iterator[Cue]:
        found = list(behind_pronoun(grammar, clauses))
        seen = {cue.token.span for cue in found}
        for clause in clauses:
            for place, token in enumerate(clause):
                if token.word in grammar.markers:
                    cue = predicate(grammar, clause, place + 1)
                    if cue and cue.token.span not in seen:
                        found.append(cue)
            found += instrumental(grammar, clause)
        yield from found or [cue for clause in clauses for cue in glad(grammar, clause)]

    def glad(grammar: Grammar, clause: Clause) -> list[Cue]:
        place = behind(clause, 0)
        cue = grammar.read(about.glad, clause[place]) if place < len(clause) else None
        return [cue] if cue else []

    return find


_RU = SUFFIX["ru"]
_RUSSIAN = replace(
    _RU,
    find=_east(
        _Predicates(
            short=Endings(
                "...(?:ан|ян|ен|ён|ив)",
                "...(?:ана|яна|ена|жна|льна|рна|вна|дна|тна|сна|чна|мна|ива)",
                words(
                    "рад прав готов молод горд добр зол слаб сыт богат знаком занят здоров стар смел мил глуп "
                    "прост строг "
                    "твёрд тверд тих близок похож жив умён умен сам один"
                ),
                words(
                    "рада права готова молода горда добра зла слаба сыта богата знакома занята здорова стара "
                    "смела мила "
                    "глупа проста строга твёрда тверда тиха близка похожа жива умна верна сильна сама одна"
                ),
            ),
            full=Endings("...(?:ый|кий|ший|щий|ний)", "...(?:ая|яя)"),
            instrumental=Endings("...(?:ым|им)", "...(?:[нвлтмшбдр]ой|[^шнчй]кой|[шщ]ей)"),
            particles=words(
                "не очень слишком такой такая самый самая же уже ещё еще всегда никогда вообще совсем более менее тоже "
                "также так ведь бы и все всё весьма теперь сейчас сегодня сам сама"
            ),
            adverb="...о$|...ски$",
            joining=words("и или"),
            before_none=words(
                "но а как чем чтобы в во на с со для к ко по от до без о об перед из за у при когда если что"
            ),
            feeling=words("чувствую ощущаю считаю"),
            self_="себя",
            being=words("быть стать казаться выглядеть оставаться буду стану остаюсь становлюсь"),
            controllers=words("я мне хочу могу буду стану остаюсь становлюсь стараюсь люблю"),
            others=words("ему ей им тебе вам другим людям детям"),
            glad=Endings("", "", words("рад"), words("рада")),
        )
    ),
    stop=_RU.stop | words("мамой женой женщиной хозяйкой подругой звездой главой дурой один одним одной"),
)

_UK = SUFFIX["uk"]
_UK_VERBS = words(
    "вмів ненавидів захворів хворів пожалів полетів прилетів відвів вивів перевів повів розвів підмів замів "
    "приліз вліз "
    "привіз віз виніс переніс заніс відніс підріс змерз замерз завмер випік зберіг беріг встиг стиг витяг"
)
_UKRAINIAN = replace(
    _UK,
    find=_east(
        _Predicates(
            short=Endings(
                "",
                "",
                words("повинен винен згоден ладен здатен певен готов рад сам один"),
                words("повинна винна згодна ладна здатна певна рада готова сама одна"),
            ),
            full=Endings(
                "..(?:ий|ій)",
                "...(?:[жлрвдтсчшйе]на|льна|ана|ива|ова|[сцз]ька|гка|ша|ща|ста|ата|тня)",
            ),
            instrumental=Endings("...(?:им|ім)", "...(?:[нвлтмшбдр]ою|[^шнчй]кою|ньою)"),
            particles=words(
                "не б би дуже надто занадто такий така найбільш же вже ще завжди ніколи зовсім більш менш теж "
                "також так "
                "просто все тепер зараз сьогодні сам сама"
            ),
            adverb="^(?!багато$|мало$)...+о$",
            joining=words("і й та або"),
            before_none=words(
                "його її їх це себе собою але а як ніж щоб в у на з із зі для до по від без о об перед за при "
                "коли якщо що"
            ),
            feeling=words("почуваю відчуваю вважаю почуваюся почуваюсь"),
            self_="себе",
            being=words("бути стати здаватися виглядати залишатися буду стану"),
            controllers=words("я мені хочу можу буду стану намагаюся люблю"),
            others=words("йому їй їм тобі вам іншим людям дітям"),
            glad=Endings("", "", words("рад"), words("рада")),
            infinitive="^(?!мати$)...*ти(?:ся)?$",
            adjacent=Endings("..ів|..івся", ""),
        )
    ),
    participle=replace(
        _UK.participle,
        masculine=f"{_UK.participle.masculine}|шов|шовся",
        masculine_words=_UK.participle.masculine_words | _UK_VERBS,
    ),
    # An adjective that goes with a noun is none of the speaker's: predicates are looked for above.
    adjective=replace(_UK.adjective, masculine=""),
    stop=_UK.stop | words("мамою дружиною жінкою людиною дівчиною зіркою подругою головою одним одною"),
)

MENDED = {**SUFFIX, "cs": _CZECH, "pl": _POLISH, "ru": _RUSSIAN, "uk": _UKRAINIAN}
