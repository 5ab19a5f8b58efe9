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

from gendermark.languages.romance import iberian

LANGUAGE = iberian("es", "Spanish")
