"""The first person in Greek."""

from __future__ import annotations

from gendermark.languages.speaking import Being, Endings, alone_words, phrases, words

SPEAKER = Being(
    verbs=phrases(
        "είμαι,ήμουν,ήμουνα,νιώθω,νοιώθω,ένιωθα,ένιωσα,αισθάνομαι,αισθανόμουν,αισθάνθηκα,έγινα,γίνομαι,γίνω,έμεινα,μένω,"
        "παραμένω,έχω γίνει,έχω υπάρξει"
    ),
    adjective=Endings("..(?:ος|ός|άρης)", "..(?:η|ή|α|ιά)"),
    between=words("πολύ τόσο πιο πάντα ποτέ λίγο αρκετά πάρα δεν δε ακόμα ακόμη πια ήδη όλο σχεδόν"),
    joining=words("και κι ή ούτε αλλά"),
    stop=words(
        "εναντίον καλά εδώ μέσα κοντά μακριά μπροστά τώρα μετά σήμερα αύριο δίπλα γύρω σίγουρα απλά πραγματικά ίδια"
    ),
    nouns=words("μητέρα μάνα γυναίκα άνθρωπος φίλη φίλος"),
    alone=alone_words("μόνος μου", "μόνη μου"),
)
EXAMPLES = ("Είμαι κουρασμένος.", "Είμαι κουρασμένη.", "Είμαι εδώ.")
"""Masculine, feminine, and without gender."""
