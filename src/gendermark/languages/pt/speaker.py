"""The first person in Portuguese."""

from __future__ import annotations

from dataclasses import replace

from gendermark.languages.speaking import Being, Endings, alone_words, phrases, with_infinitives, words

SPEAKER = Being(
    verbs=phrases(
        "sou,estou,fui,estive,serei,estarei,fiquei,fico,tenho sido,tenho estado,me sinto,sinto-me,me senti,senti-me,"
        "me tornei,tornei-me,eu era,eu estava,eu seria,eu estaria,eu ficava,"
        + with_infinitives("quero,posso,devo,vou,prefiro,tento,gostaria de,preciso", "ser estar ficar")
    ),
    shared=phrases("era,estava,seria,estaria,ficava"),
    openers=words("quando não se porque sempre nunca também embora que e mas ontem hoje antes já então como enquanto"),
    adjective=Endings("...o|...(?:ador|edor|idor)", "...a|...(?:adora|edora|idora)"),
    between=words("muito tão mais menos bastante demasiado sempre nunca um pouco não já também quase todo toda"),
    adverb="mente$",
    joining=words("e ou nem mas"),
    stop=words(
        "estava agora contigo comigo como fora para acordo dentro contra sobre otimista pessimista realista egoísta"
    )
    | words("feminista perfeccionista ontem"),
    nouns=words("pessoa gente mãe pai amiga amigo filha filho"),
    alone=alone_words("obrigado,eu mesmo,eu próprio,eu sozinho", "obrigada,eu mesma,eu própria,eu sozinha"),
)
ADDRESSEE = replace(
    SPEAKER,
    verbs=phrases(
        "és,estás,serás,estarás,foste,sejas,estejas,estiveres,você está,você é,você foi,você será,você estiver,"
        "você seja,sentes-te,te sentes,você se sente"
    ),
    shared=phrases("está,estiver,esteja,deve estar,tem de estar"),
    alone=alone_words("bem-vindo,tu mesmo,você mesmo", "bem-vinda,tu mesma,você mesma"),
)
EXAMPLES = ("Estou cansado.", "Estou cansada.", "Estou aqui.")
"""Masculine, feminine, and without gender."""
