"""The first person in Ukrainian."""

from __future__ import annotations

from dataclasses import replace

from gendermark.languages.speaking import Endings, Grammar, Predicates, behind_pronoun, pairs, predicates_too, words

FITTED = Grammar(
    behind_pronoun,
    Endings(
        ".[аяиїу]в|.[аяиїу]вся",
        "..ла|..лася|..лась",
        words(
            "хотів захотів умів зумів розумів зрозумів волів сидів летів терпів горів тремтів володів "
            "посмів сів вів "
            "провів привів завів довів міг зміг допоміг переміг пік спік ніс приніс ліг ріс виріс зник звик досяг "
            "втік схуд"
        ),
    ),
    Endings("..ий", "", feminine_words=words("рада готова здатна повинна винна впевнена змушена щаслива самотня")),
    ("я",),
    pairs("один/одна"),
    words("сила школа тіла діла прав справ страв"),
)

_UK_VERBS = words(
    "вмів ненавидів захворів хворів пожалів полетів прилетів відвів вивів перевів повів розвів підмів замів "
    "приліз вліз "
    "привіз віз виніс переніс заніс відніс підріс змерз замерз завмер випік зберіг беріг встиг стиг витяг"
)
SPEAKER = replace(
    FITTED,
    find=predicates_too(
        Predicates(
            short=Endings(
                "",
                "",
                words("повинен винен згоден ладен здатен певен готов рад сам один"),
                words("повинна винна згодна ладна здатна певна рада готова сама одна"),
            ),
            full=Endings("..(?:ий|ій)", "...(?:[жлрвдтсчшйе]на|льна|ана|ива|ова|[сцз]ька|гка|ша|ща|ста|ата|тня)"),
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
        FITTED.participle,
        masculine=f"{FITTED.participle.masculine}|шов|шовся",
        masculine_words=FITTED.participle.masculine_words | _UK_VERBS,
    ),
    # An adjective that goes with a noun is none of the speaker's: predicates are looked for above.
    adjective=replace(FITTED.adjective, masculine=""),
    stop=FITTED.stop | words("мамою дружиною жінкою людиною дівчиною зіркою подругою головою одним одною"),
)
EXAMPLES = ("Я був там.", "Я була там.", "Я тут.")
"""Masculine, feminine, and without gender."""
