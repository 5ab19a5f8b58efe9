"""The first person in Spanish."""

from __future__ import annotations

from dataclasses import replace

from gendermark.languages.speaking import Being, Endings, alone_words, phrases, with_infinitives, words

SPEAKER = Being(
    verbs=phrases(
        "soy,estoy,fui,estuve,seré,estaré,he sido,he estado,me siento,me sentí,me he sentido,me quedo,me quedé,me puse,"
        "me pongo,me volví,me vuelvo,yo era,yo estaba,yo sería,yo estaría,"
        + with_infinitives("quiero,puedo,debo,voy a,prefiero,intento,quisiera,necesito", "ser estar sentirme quedarme")
    ),
    shared=phrases("era,estaba,sería,estaría,me sentía,me quedaba"),
    openers=words(
        "cuando no si porque siempre nunca también aunque que y pero ayer hoy antes ya entonces como mientras"
    ),
    adjective=Endings("...o|...(?:ador|edor|idor)", "...a|...(?:adora|edora|idora)", words("guapo"), words("guapa")),
    between=words(
        "muy tan más menos bastante demasiado siempre nunca un poco algo no ya también casi todo toda realmente"
    ),
    adverb="mente$",
    joining=words("y e o ni pero"),
    stop=words("estaba ahora contigo conmigo como cuando fuera cerca para hasta desde contra sobre mamá acuerdo dentro")
    | words("optimista pesimista realista egoísta deportista perfeccionista feminista"),
    nouns=words("persona gente madre padre amiga amigo hija hijo"),
    alone=alone_words("yo mismo,yo solo,por mí mismo", "yo misma,yo sola,por mí misma"),
)
ADDRESSEE = replace(
    SPEAKER,
    verbs=phrases(
        "estás,eres,estés,seas,serás,estarás,fuiste,estabas,eras,te sientes,has sido,has estado,hayas sido,usted está,"
        "usted es,usted ha sido,ustedes están,ustedes son"
    ),
    # "es" and "ha sido" without a subject are of a thing far more often: "no es válido".
    shared=phrases("está,esté,ha estado,estará,debe estar,necesita estar,tiene que estar"),
    # "¿Seguro que ...?" is an adverb.
    alone=alone_words("bienvenido,bienvenidos,usted mismo,tú mismo", "bienvenida,bienvenidas,usted misma,tú misma"),
)
EXAMPLES = ("Estoy cansado.", "Estoy cansada.", "Estoy aquí.")
"""Masculine, feminine, and without gender."""
