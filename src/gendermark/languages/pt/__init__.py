"""Portuguese, Brazilian and European.

Articles, contracted prepositions, demonstratives and possessives show gender in both numbers; "cada" and "qualquer" do
not. Adjectives cannot be told by their endings next to a noun, because verbs end alike ("o analista contrata"), so they
are listed; words that are often adverbs ("mesmo assim", "junto", "primeiro") and participles that govern a predicate
noun ("foi nomeada gerente") are not among them. Where the determiner leaves the gender open, or there is none, the
predicate of a subject that begins its clause tells it ("cada gerente foi avisada"): there, behind the copula, endings
are safe. "a" is read as the article; the preposition "a" before a bare noun ("de analista a gerente") is rare.
A noun that no lexicon has is read by its article, else by its ending ("-ora", "-ção"; "-ista" and "-nte" tell nothing).
"""

from __future__ import annotations

import re

from gendermark.languages.romance import BothArticles, Copula, Iberian, NounEndings, adjectives, table, word_set

_GRAMMAR = Iberian(
    singular=table(
        """
        o um do no ao pelo num dum pro este esse aquele deste desse daquele neste nesse naquele àquele meu teu seu nosso
        vosso algum nenhum outro doutro noutro mesmo próprio certo todo cujo segundo
        """,
        """
        a uma da na à pela pra numa duma esta essa aquela desta dessa daquela nesta nessa naquela àquela minha tua sua
        nossa vossa alguma nenhuma outra doutra noutra mesma própria certa toda cuja segunda
        """,
        "cada qualquer",
    ),
    plural=table(
        """
        os uns dos nos aos pelos nuns duns pros estes esses aqueles destes desses daqueles nestes nesses naqueles
        àqueles meus teus seus nossos vossos alguns nenhuns outros doutros noutros mesmos próprios certos todos cujos
        tantos muitos poucos vários ambos dois quantos
        """,
        """
        as umas das nas às pelas pras numas dumas estas essas aquelas destas dessas daquelas nestas nessas naquelas
        àquelas minhas tuas suas nossas vossas algumas nenhumas outras doutras noutras mesmas próprias certas todas
        cujas tantas muitas poucas várias ambas duas quantas
        """,
        "quaisquer",
    ),
    transparent=word_set("""
    muito mais menos tão tal tais bem mal melhor melhores pior piores grande grandes jovem jovens excelente excelentes
    simples pobre pobres atual atuais actual actuais anterior anteriores principal principais ex célebre célebres
    brilhante brilhantes competente competentes inteligente inteligentes amável amáveis feliz felizes incrível incríveis
    terrível elegante elegantes valente valentes forte fortes hábil hábeis fiel fiéis leal leais experiente experientes
    contente três quatro cinco seis sete oito nove dez
    """),
    adjectives=adjectives(
        """
        novo velho antigo pequeno último terceiro único futuro famoso querido estimado bonito lindo belo formoso
        atrativo feio alto gordo magro idoso rico esperto tolo sério honesto sincero generoso tranquilo calmo nervoso
        louco morto vivo satisfeito orgulhoso ambicioso talentoso curioso cuidadoso ciumento preguiçoso perigoso valioso
        engraçado atento rigoroso justo injusto maravilhoso magnífico fantástico ótimo péssimo honrado solteiro viúvo
        furioso simpático antipático cansado zangado irritado preocupado assustado ocupado qualificado capacitado
        certificado formado diplomado demitido despedido reformado aposentado casado divorciado educado dotado dedicado
        respeitado conhecido desconhecido reconhecido ferido armado divertido exausto médico clínico técnico jurídico
        público político financeiro administrativo executivo doméstico mecânico acadêmico académico gráfico literário
        penitenciário interno externo autônomo autónomo informático econômico económico científico esportivo desportivo
        educativo bancário imobiliário noturno nocturno estrangeiro italiano americano brasileiro mexicano argentino
        russo chinês francês inglês japonês português africano negro branco loiro moreno feminino masculino
        universitário trabalhador encantador empreendedor espanhol
        """,
        singular=("bom mau homem senhor", "boa má primeira mulher senhora"),
        plural=("bons maus primeiros espanhóis", "boas más primeiras"),
    ),
    superlative="íssim",
    copula=Copula(
        singular=word_set("""
        é está era estava foi esteve será estará seria estaria seja esteja fosse estivesse sido estado parece parecia
        ficou fica ficava continua continuava sente sentiu sentia
        """),
        plural=word_set("""
        são estão eram estavam foram estiveram serão estarão seriam estariam sejam estejam fossem estivessem sido estado
        parecem pareciam ficaram ficam ficavam continuam continuavam sentem sentiram sentiam
        """),
        before=word_set("não se já também sempre nunca ainda agora tem têm tinha tinham terá teria tenha"),
        after=word_set("muito mais menos tão bastante bem algo também já sempre ainda sendo sido estado se"),
    ),
    clause_starts=word_set("que porque mas quando se embora enquanto onde pois então hoje ontem"),
    both_articles=BothArticles(  # "o/a gerente", "as e os gerentes"
        re.compile(
            r"\b(?:o (?:ou )?a|a ou o|um (?:ou )?uma|uma ou um|os (?:(?:e|ou) )?as"
            r"|as (?:e|ou) os|do (?:ou )?da|ao (?:ou )?à)$"
        ),
        word_set("o a um uma os as do da ao à ou e"),
    ),
    nouns=NounEndings(
        things=re.compile(r"(?:ç(?:ão|ões)|ss(?:ão|ões)|dades?|tudes?|mentos?|(?<!person)age(?:m|ns)|arias?|ências?)$"),
        untold=re.compile(
            r"^.{1,3}$|-|(?:ist|eut|let|crat|pat|iatr|arc|cid|leg)as?$|mente$|[aei]ndo$"
            r"|(?:ou|eu|iu|aram|eram|iram|avam?|avas)$|[^nhgf]ia[ms]?$"
        ),
        feminine=re.compile(r"(?:a|ã|[çs]ão|dade|tude|agem|triz)$|(?:a|ã|[çs]õe|dade|tude|agen|trize)s$"),
        masculine=re.compile(r"(?:o|or|ão|ês|eu)$|(?:o|ore|ão|õe|ãe|ese)s$"),
        no_nouns=word_set("""
        para como quando quanto contra ela elas eles nada algo logo embora senão todo toda todos todas muito muita pouco
        pouca tanto tanta agora nunca antes depois além enquanto então onde era eram cujo cuja ambos ambas isto isso
        aquilo mesmo mesma seja haja mas mais atrás lhes dela dele delas deles nela nele uma umas outra outro cada sobre
        não até
        """),
    ),
    sexes=table("homem homens masculina masculinas masculino", "mulher mulheres feminina femininas feminino"),
    no_predicates=word_set("""
    para como contra quando quanto todo toda outro outra uma mesmo algo nada nunca agora ainda embaixo baixo dentro fora
    junto longe culpa causa hora parte vítima pessoa testemunha criança idiota poeta coisa certo necessário
    claro óbvio ela elas eles seu sua dele dela muito pouco tanto próximo acima abaixo logo meio caminho casa cada
    """),
)

LANGUAGE = _GRAMMAR.language("pt", "Portuguese", hint_sexes={"masculinos": "m", "femininos": "f"})
