"""The first person in French."""

from __future__ import annotations

from dataclasses import replace

from gendermark.languages.speaking import Being, Endings, phrases, with_infinitives, words

SPEAKER = Being(
    verbs=phrases(
        "je suis,je ne suis,j'étais,je n'étais,je serai,je serais,je me sens,je me sentais,je me suis,je ne me suis,"
        "je deviens,je reste,j'ai été,j'ai toujours été,je n'ai jamais été,"
        + with_infinitives(
            "je veux,je peux,je dois,je préfère,j'aime,je vais,j'essaie d',je voudrais", "être devenir rester"
        )
    ),
    adjective=Endings(
        r"..é|..i|..u|..it|..is|ant|ent|eux|oux|if|el|ien|.on|er|eur|al|ain|..in|ort|and|ond|ourd|..ert|et|êt",
        r"..ée|..ie|..ue|..ite|..ise|ante|ente|euse|ouse|ive|elle|ienne|.onne|ère|rice|ale|aine|..ine|orte|ande|onde"
        r"|ourde|..erte|ette|ète|ête",
        words("seul sûr beau fou gentil dur pur las gras gros bas fier mûr doux content"),
        words("seule sûre belle folle gentille dure pure lasse grasse grosse basse fière mûre douce contente"),
    ),
    between=words(
        "pas plus très si trop assez bien toujours jamais encore tellement un peu moins aussi vraiment déjà tout"
    )
    | words("toute presque"),
    adverb="ment$",
    joining=words("et ou ni mais"),
    stop=words(
        "aussi ici ainsi qui quoi peu tu du au rien en mon ton son on non chez hier avant devant pendant comment"
    )
    | words("honnête bête souvent maintenant hier lui eux"),
    nouns=words("personne femme homme mère père amie ami fille garçon"),
    unchanging=(
        ("je", "me", "suis"),
        words("dit demandé rendu permis promis acheté fait donné parlé imaginé offert posé plu nui succédé"),
    ),
)
ADDRESSEE = replace(
    SPEAKER,
    verbs=phrases(
        "tu es,tu n'es,tu étais,tu seras,tu sois,tu as été,es-tu,vous êtes,vous n'êtes,êtes-vous,vous étiez,vous serez,"
        "vous soyez,vous avez été,vous n'avez pas été,vous sentez-vous,tu te sens"
    ),
    unchanging=((), words("")),
)
EXAMPLES = ("Je suis fatigué.", "Je suis fatiguée.", "Je suis ici.")
"""Masculine, feminine, and without gender."""
