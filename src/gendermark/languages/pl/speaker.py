"""The first person in Polish."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from gendermark.languages.speaking import Clause, Cue, Endings, Grammar, beside, pairs, words

_L_FORMS = Endings("..ł", "..ła")
_BEFORE_L_FORMS = words("będę bym żebym abym jakbym ażebym")


def in_the_verb(grammar: Grammar, clauses: Sequence[Clause]) -> Iterator[Cue]:
    found = [cue for clause in clauses for token in clause if (cue := grammar.read(grammar.participle, token))]
    found += beside(grammar, clauses, "jestem", 3)
    found = found or beside(grammar, clauses, "być", 3)
    for clause in clauses:
        if any(token.word == "gdybym" for token in clause):
            found += [cue for token in clause if (cue := grammar.read(_L_FORMS, token))]
    yield from found or beside(grammar, clauses, "czuję", 4)


FITTED = Grammar(
    in_the_verb,
    Endings("łem|łbym", "łam|łabym"),
    Endings("...(?:[nłwrmtdz]y|[sc]zy|[kgn]i|ący)", "...(?:[nłwrmtdzkg]a|sza|ąca)"),
    pairs=pairs("sam/sama"),
    stop=words(
        "kościołem stołem zespołem artykułem ciałem dziełem światłem źródłem krzesłem pomysłem umysłem "
        "kołem czołem "
        "hasłem materiałem kapitałem udziałem zapałem ogółem dołem tyłem bardzo kobieta mężczyzna osoba mama matka "
        "żona siostra córka głowa modelka dziewczyna która każda kilka rodzina taka ludzi dzieci kiedy trzy"
    ),
)


def _find(grammar: Grammar, clauses: Sequence[Clause]) -> Iterator[Cue]:
    found = list(in_the_verb(grammar, clauses))
    for clause in clauses:
        if any(token.word in _BEFORE_L_FORMS for token in clause):
            found += [cue for token in clause if (cue := grammar.read(_L_FORMS, token))]
    yield from found or beside(grammar, clauses, "będę", 3)


SPEAKER = replace(
    FITTED,
    find=_find,
    participle=replace(
        FITTED.participle, masculine_words=words("powinienem winienem"), feminine_words=words("powinnam winnam")
    ),
    adjective=replace(
        FITTED.adjective, masculine_words=words("pewien gotów zdrów ciekaw wart świadom pełen wesół winien godzien")
    ),
    stop=FITTED.stop | words("nigdy wtedy szkoła siła chwała artykuł pomysł umysł zespół stół kościół ogół materiał"),
    prepositions=words("bez dla do na nad o od po pod przed przez przy u w we z ze między"),
)
EXAMPLES = ("Byłem tam.", "Byłam tam.", "Jestem tu.")
"""Masculine, feminine, and without gender."""
