"""The first person in Czech."""

from __future__ import annotations

from dataclasses import replace

from gendermark.languages.speaking import Endings, Grammar, around_auxiliary, pairs, words

FITTED = Grammar(
    around_auxiliary,
    Endings("..l", "..la"),
    Endings("...ý", "...á"),
    ("jsem", "nejsem", "bych", "já"),
    pairs("rád/ráda nerad/nerada sám/sama"),
    words("cíl úkol hotel díl omyl žal email alkohol síla škola jídla"),
)

SPEAKER = replace(
    FITTED,
    markers=(*FITTED.markers, "abych", "kdybych", "budu", "nebudu"),
    # Short adjectives and passive participles: "jsem přesvědčen", "jsem si vědoma".
    adjective=Endings(
        "...ý|...en|...án",
        "...á|...ena|...ána",
        words("jist vědom zdráv zvědav"),
        words("jista vědoma zdráva zvědava schopna povinna ochotna"),
    ),
    stop=FITTED.stop
    | words("každý každá žádný žádná nějaký nějaká celý celá který která")
    | words("týden jeden všechen blázen kámen kořen pramen plamen leden duben květen červen srpen říjen březen")
    | words("ramena kolena písmena semena plemena břemena román"),
)
EXAMPLES = ("Byl jsem tam.", "Byla jsem tam.", "Jsem tady.")
"""Masculine, feminine, and without gender."""
