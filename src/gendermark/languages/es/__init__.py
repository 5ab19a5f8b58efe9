"""Spanish.

Articles and most determiners show gender in both numbers; "mi", "tu", "su", "cada" and "cualquier" do not. Adjectives
cannot be told by their endings next to a noun, because verbs end alike ("la analista contrata", "su asistente olvida"),
so they are listed; words that are often adverbs or verbs ("solo", "rápido", "baja") and participles that govern a
predicate noun ("fue nombrada gerente") are not among them. Where the determiner leaves the gender open, the predicate
of a subject that begins its clause tells it ("su asistente está cansada", "su asistente fue despedida"): there, behind
the copula, endings are safe. A noun inside a larger subject ("la tía de su asistente está ...") is ignored.
A noun that no lexicon has is read by its article, else by its ending ("-ora", "-ción"; "-ista", "-nte" tell nothing).
"""

from __future__ import annotations

import re

from gendermark.languages.romance import BothArticles, Copula, Iberian, NounEndings, adjectives, table, word_set

_GRAMMAR = Iberian(
    singular=table(
        "el del al un este ese aquel éste ése aquél nuestro vuestro algún ningún todo otro mismo cierto dicho cuyo",
        "la una esta esa aquella ésta ésa aquélla nuestra vuestra alguna ninguna toda otra misma cierta dicha cuya",
        "mi tu su cada cualquier qué",
    ),
    plural=table(
        """
        los unos estos esos aquellos éstos ésos aquéllos nuestros vuestros algunos todos otros mismos ciertos dichos
        cuyos muchos pocos tantos cuántos varios ambos demasiados numerosos
        """,
        """
        las unas estas esas aquellas éstas ésas aquéllas nuestras vuestras algunas todas otras mismas ciertas dichas
        cuyas muchas pocas tantas cuántas varias ambas demasiadas numerosas
        """,
        "mis tus sus qué",
    ),
    transparent=word_set("""
    muy más menos tan tal tales bien mal mejor mejores peor peores gran grandes joven jóvenes excelente excelentes
    simple simples pobre pobres actual actuales anterior anteriores principal principales ex célebre célebres brillante
    brillantes competente competentes inteligente inteligentes amable amables feliz felices increíble increíbles
    terrible terribles elegante elegantes valiente valientes fuerte fuertes amigable amigables hábil hábiles fiel fieles
    leal leales dos tres cuatro cinco seis siete ocho nueve diez
    """),
    adjectives=adjectives(
        """
        nuevo malo viejo antiguo pequeño propio último segundo tercero único futuro famoso querido estimado simpático
        antipático guapo bonito hermoso lindo bello apuesto atractivo precioso feo alto gordo delgado flaco anciano rico
        listo tonto serio honesto sincero generoso tranquilo nervioso loco enfermo muerto vivo sano contento orgulloso
        exitoso ambicioso talentoso curioso cuidadoso celoso perezoso peligroso valioso gracioso atento estricto justo
        injusto experto maravilloso magnífico estupendo fantástico pésimo honrado soltero viudo presunto supuesto
        satisfecho furioso cansado enfadado enojado preocupado asustado ocupado experimentado calificado cualificado
        capacitado certificado titulado diplomado despedido retirado jubilado casado divorciado embarazado educado
        dotado dedicado respetado conocido desconocido reconocido herido armado divertido aburrido agotado médico
        clínico técnico jurídico público político financiero administrativo ejecutivo doméstico mecánico académico
        gráfico literario penitenciario interno externo autónomo informático económico científico deportivo educativo
        bancario inmobiliario nocturno extranjero italiano americano mexicano colombiano argentino chileno peruano
        cubano venezolano brasileño ruso chino europeo africano negro blanco rubio moreno femenino masculino
        universitario trabajador encantador emprendedor español francés inglés alemán portugués japonés
        """,
        singular=("buen primer tercer hombre varón señor", "buena primera mujer señora"),
        plural=("buenos primeros", "buenas primeras"),
    ),
    superlative="ísim",
    copula=Copula(
        singular=word_set("""
        es está era estaba fue estuvo será estará sería estaría sea esté fuera estuviera sido estado parece parecía
        quedó sigue seguía siente sintió sentía puso resultó
        """),
        plural=word_set("""
        son están eran estaban fueron estuvieron serán estarán serían estarían sean estén fueran estuvieran sido estado
        parecen parecían quedaron siguen seguían sienten sintieron sentían pusieron resultaron
        """),
        before=word_set(
            "no se ya también siempre nunca todavía aún ahora ha han había habían habrá haya hayan hubiera"
        ),
        after=word_set("muy más menos tan bastante demasiado algo también ya siempre todavía siendo sido estado"),
    ),
    clause_starts=word_set("que porque pero cuando si aunque mientras donde pues entonces hoy ayer"),
    both_articles=BothArticles(  # "el/la analista", "las y los analistas"
        re.compile(r"\b(?:el (?:o )?la|la o el|un (?:o )?una|una o un|los (?:[oy] )?las|las [oy] los)$"),
        word_set("el la un una los las o y"),
    ),
    nouns=NounEndings(
        things=re.compile(r"(?:[cs]i[óo]n(?:es)?|[dt]ad(?:es)?|tud(?:es)?|mientos?|(?<!person)ajes?|erías?|encias?)$"),
        untold=re.compile(
            r"^.{1,3}$|(?:ist|eut|let|crat|pat|iatr|arc|cid|leg)as?$|mente$|[aei]rl[ao]s?$|[aei]ndo$"
            r"|(?:ó|ar[oa]n|er[oa]n|aban?|abas)$|[^ñgf]ían?$"
        ),
        feminine=re.compile(r"(?:a|[cs]ión|[dt]ad|tud|umbre|triz)$|(?:a|[cs]ione|[dt]ade|tude|umbre|trice)s$"),
        masculine=re.compile(r"(?:o|or|ón|ín|án|és)$|(?:o|ore|one|ine|ane|ese)s$"),
        no_nouns=word_set("""
        para como pero cuando cuanto hasta contra hacia ella ellas ellos nada algo luego aunque sino solo sólo todo toda
        todos todas mucho mucha poco poca tanto tanta ahora nunca antes después además mientras entonces donde cómo
        cuándo cuánto era eran cuyo cuya ambos ambas esto eso aquello mismo misma haya hizo dijo quiso pudo puso tuvo
        vino hubo trajo supo sea les los las nos más atrás detrás tras una unas unos otra otro cada
        """),
    ),
    sexes=table("hombre hombres varón varones masculina masculinas", "mujer mujeres femenina femeninas"),
    no_predicates=word_set("""
    para como contra cuando cuanto hasta hacia todo toda otro otra una mismo algo nada nunca ahora todavía cerca debajo
    bajo dentro fuera junto encima abajo arriba luego culpa causa hora parte víctima persona testigo idiota poeta cosa
    cierto necesario claro obvio ella ellas ellos uno suyo suya cuya tuyo nuestro mucho poco tanto solo
    medio rumbo camino casa
    """),
)

LANGUAGE = _GRAMMAR.language(
    "es",
    "Spanish",
    hint_sexes={"masculino": "m", "masculinos": "m"},
    standalone=table("nosotros vosotros", "nosotras vosotras"),
)
