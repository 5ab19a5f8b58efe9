"""The first person in Italian."""

from __future__ import annotations

from dataclasses import replace

from gendermark.languages.speaking import Being, Endings, alone_words, phrases, with_infinitives, words

SPEAKER = Being(
    verbs=phrases(
        "sono,ero,fui,sarò,sarei,mi sento,"
        "mi sentivo,mi sono,resto,rimango,divento,"
        + with_infinitives("voglio,posso,devo,preferisco,vorrei,cerco di", "essere restare diventare sentirmi")
    ),
    adjective=Endings("...o", "...a"),
    between=words(
        "molto così troppo più meno abbastanza sempre mai non un po' po poco ancora già anche davvero tanto piuttosto"
    )
    | words("quasi tutto tutta"),
    adverb="mente$",
    joining=words("e ed o né ma"),
    stop=words(
        "come sopra contro dentro dietro dopo verso d'accordo senza prima ora allora quando adesso qui ottimista"
    )
    | words("pessimista realista egoista perfezionista femminista"),
    nouns=words("persona gente madre padre amica amico figlia figlio"),
    alone=alone_words("io stesso,da solo,io solo", "io stessa,da sola,io sola"),
)
ADDRESSEE = replace(
    SPEAKER,
    verbs=phrases("sei,eri,sarai,sei stato,sei stata,sia stato,ti sei,ti senti,lei è,tu sia"),
    alone=alone_words("benvenuto,sicuro di,sicuro che", "benvenuta,sicura di,sicura che"),
    telling=0,
)
EXAMPLES = ("Sono stanco.", "Sono stanca.", "Sono qui.")
"""Masculine, feminine, and without gender."""
