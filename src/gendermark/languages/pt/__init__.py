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

from gendermark.languages.romance import iberian

LANGUAGE = iberian("pt", "Portuguese")
