"""Language names and codes used by people and programs.

A language may be listed here without having a grammar (`languages/`), and vice versa if another package provides it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_RIGHT_TO_LEFT = ("Arab", "Hebr")


@dataclass(frozen=True, slots=True)
class Facts:
    """One language; elsewhere identified by its `code`."""

    code: str
    """ISO 639-1; ISO 639-3 if it has none."""
    name: str
    """In English."""
    nllb: str
    """Language and script as in NLLB and FLORES; for languages with varieties, the one that `code` denotes."""
    three_letters: str
    """ISO 639-3: the whole language, if NLLB names a variety."""
    older_code: str = ""
    """The ISO 639-1 code before 1989, which some programs still use."""

    @property
    def script(self) -> str:
        return self.nllb.partition("_")[2]

    @property
    def is_right_to_left(self) -> bool:
        return self.script in _RIGHT_TO_LEFT


_TABLE = """
am Amharic amh_Ethi amh
ar Arabic arb_Arab ara
as Assamese asm_Beng asm
be Belarusian bel_Cyrl bel
bg Bulgarian bul_Cyrl bul
bho Bhojpuri bho_Deva bho
bn Bengali ben_Beng ben
ca Catalan cat_Latn cat
cs Czech ces_Latn ces
da Danish dan_Latn dan
de German deu_Latn deu
el Greek ell_Grek ell
en English eng_Latn eng
es Spanish spa_Latn spa
et Estonian est_Latn est
eu Basque eus_Latn eus
fa Persian pes_Arab fas
fi Finnish fin_Latn fin
fr French fra_Latn fra
gl Galician glg_Latn glg
he Hebrew heb_Hebr heb iw
hi Hindi hin_Deva hin
hr Croatian hrv_Latn hrv
hu Hungarian hun_Latn hun
id Indonesian ind_Latn ind in
is Icelandic isl_Latn isl
it Italian ita_Latn ita
ja Japanese jpn_Jpan jpn
ka Georgian kat_Geor kat
ko Korean kor_Hang kor
lg Ganda lug_Latn lug
ln Lingala lin_Latn lin
lt Lithuanian lit_Latn lit
lv Latvian lvs_Latn lav
mai Maithili mai_Deva mai
mk Macedonian mkd_Cyrl mkd
ms Malay zsm_Latn msa
nl Dutch nld_Latn nld
no Norwegian nob_Latn nob
om Oromo gaz_Latn orm
pl Polish pol_Latn pol
pt Portuguese por_Latn por
ro Romanian ron_Latn ron
ru Russian rus_Cyrl rus
sk Slovak slk_Latn slk
sl Slovenian slv_Latn slv
sr Serbian srp_Cyrl srp
sv Swedish swe_Latn swe
sw Swahili swh_Latn swa
te Telugu tel_Telu tel
th Thai tha_Thai tha
tr Turkish tur_Latn tur
uk Ukrainian ukr_Cyrl ukr
ur Urdu urd_Arab urd
vi Vietnamese vie_Latn vie
yi Yiddish ydd_Hebr yid ji
zh Chinese zho_Hans zho
"""

LANGUAGES = {facts.code: facts for facts in (Facts(*row.split()) for row in _TABLE.split("\n") if row)}
# ISO 639-2 uses `mul` for multilingual texts: each sentence has its own language.
NAMES = {**{code: facts.name for code, facts in LANGUAGES.items()}, "mul": "several languages"}
RIGHT_TO_LEFT = frozenset(code for code, facts in LANGUAGES.items() if facts.is_right_to_left)


def nllb(code: str) -> str:
    return LANGUAGES[code].nllb if code in LANGUAGES else code


def three_letters(code: str) -> str:
    return LANGUAGES[code].three_letters if code in LANGUAGES else code


_SPELLED = {
    spelled.casefold(): code
    for code, facts in LANGUAGES.items()
    for spelled in (code, facts.name, facts.three_letters, facts.older_code)
    if spelled
}
_REGION = re.compile(r"\b([a-z]{2,3})[-_](?:[A-Z]{2}|[A-Z][a-z]{3})\b")
"""`pt-BR`, `zh-Hans`."""


def words_in(name: str) -> list[str]:
    return re.findall(r"[^\W_]+", _REGION.sub(r"\1", name))


def languages_in(name: str) -> list[str]:
    """The languages that a name may refer to, the last first: `en-es` is a translation into Spanish."""
    return [_SPELLED[word.casefold()] for word in reversed(words_in(name)) if word.casefold() in _SPELLED]
