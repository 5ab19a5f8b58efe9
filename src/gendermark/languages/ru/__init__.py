"""Russian: its words and endings are in `grammar.toml`, the grammar in `slavic`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from gendermark.languages.language import Agreement, RoleForms
from gendermark.languages.slavic import grammar_of
from gendermark.languages.tables import by_gender

_GRAMMAR = grammar_of("ru")


def _normalise(word: str) -> str:
    """ё is optional in print; a stress mark is none of our business."""
    return word.replace("ё", "е").replace("\u0301", "")


_Cases = tuple[tuple[str, ...], tuple[str, ...]]
"""The case endings of the singular, and those of the plural."""
_CONSONANT_CASES: _Cases = (("", "а", "у", "ом", "е"), ("ы", "и", "ов", "ам", "ами", "ах"))
_SOFT_CASES: _Cases = (("ь", "я", "ю", "ем", "е"), ("и", "ей", "ям", "ями", "ях"))
_FEMININE_CASES: _Cases = (("а", "ы", "и", "е", "у", "ой", "ей"), ("", "ам", "ами", "ах"))
_CLIPPED_CASES: _Cases = (("а", "у", "ом", "ем", "е"), ("ы", "ов", "ев", "ам", "ами", "ах"))


def _role_forms(masculine: str, feminine: str) -> RoleForms:
    yield masculine, "m", False
    stem, cases = masculine, _CONSONANT_CASES
    if masculine.endswith("ец"):
        stem, cases = masculine[:-2] + "ц", _CLIPPED_CASES
    elif masculine.endswith("ь"):
        stem, cases = masculine[:-1], _SOFT_CASES
    for is_plural, endings in zip((False, True), cases, strict=True):
        yield from ((stem + ending, "m", is_plural) for ending in endings if stem + ending != feminine)
    stem = feminine[:-1]
    for is_plural, endings in zip((False, True), _FEMININE_CASES, strict=True):
        yield from ((stem + ending, "f", is_plural) for ending in endings if stem + ending != masculine)


_WOMAN = re.compile(
    r".*(?:(?:ниц|иц|есс|рис|их|ш|[бвгджзйлмнпрстфхчшь]к|подруг|сестр|женщин|девушк|девочк|дам|актрис)"
    r"(?:а|ы|и|е|у|ой|ою|ей|ам|ами|ах)|(?:ниц|иц|есс|сестер|подруг|женщин|девушек|девочек)|нь(?:я|и|е|ю|ей|ям|ями|ях)|[бвгджзклмнпрстфхцчшщй]ок|[чшжие]ек|[ое]рш|нтш|[ая]я|ую|юю)(?:ся)?"
)
_MAN = re.compile(
    r"(?:(?:подрост|потом|пред|нович|знат|игр|реб[её]н)(?:ок|к|ек).*|(?:жених|пастух).*|турк.*|турок|волк.*|поляк.*"
    r"|.*(?:зятья|ниш|товарищ|врач|палач|ткач|скрипач|силач|малыш)\w{0,3}|мужчин.*|юнош.*|дедушк.*|дяд.*)"
)
_NO_SEX = re.compile(
    r"(?:люд|дет[иея]|дит|персон|лиц|человек|член|родител|жертв|особ|ребят|народ|семь|групп|команд|сирот|коллег|судь|глав|убийц|тупиц|пьяниц|невежд|калек|нерях|задир|зубрил|выскочк|одиночк)\w*"
)


_PARTICIPLE = re.compile(
    r".*(?:[аяую]щ|[аяе]ем|им|вш|[аое]нн|ивш)(?:ий|ый|ая|его|ого|ему|ому|ую|им|ым|ей|ой|ие|ые|их|ых)(?:ся)?"
)


_FEMININE_ENDINGS = ("ая", "ую", "ей", "ой", "аяся", "уюся", "ейся")
_PLURAL_ENDINGS = ("ие", "ые", "их", "ых", "ими", "ыми", "иеся", "ихся")


def _is_nominal(word: str) -> bool:
    return _PARTICIPLE.fullmatch(word) is not None


def _person_noun(word: str, number: str) -> Agreement | None:  # noqa: ARG001
    if _NO_SEX.fullmatch(word):
        return None
    if _MAN.fullmatch(word):
        return "m"
    if _PARTICIPLE.fullmatch(word):  # «верующая», «верующей», «верующего»
        return "f" if word.endswith(_FEMININE_ENDINGS) else None if word.endswith(_PLURAL_ENDINGS) else "m"
    if _WOMAN.fullmatch(word):
        return "f"
    return None if word.endswith(("о", "ие", "ые", "их", "ых", "ими", "ыми")) else "m"


_ALONE: Mapping[Agreement, str] = {
    "m": "оба обоих обоим обоими любой каждый каждого каждому любого любому тот тому другого другому",
    "f": "обе обеих обеим обеими каждая каждую любая любую та другая другую",
}

LANGUAGE = _GRAMMAR.language(
    "ru",
    "Russian",
    singular={**dict.fromkeys(_GRAMMAR.feminine, "f"), "оба": "m", "два": "m"},
    plural=by_gender("обоих обоим обоими", "обе обеих обеим обеими"),
    normalise=_normalise,
    role_forms=_role_forms,
    person_noun=_person_noun,
    has_animacy=True,
    case_ending=re.compile("[аяоеиыуюьйвмх]{1,3}$"),
    person_ending=re.compile(
        r".*(?:тел|ник|щик|чик|ист|[ео]?ц|анин|янин|анк|янк|инк|ячк|орш|онш|говк|ниц|щиц|чиц|истк|ар|ач|лог|граф|вед|ман|атор|итор|ант|ент|ентк|антк|арк|ун|ах)"
        r"(?:ь|а|я|у|ю|ом|ем|ей|ою|ой|е|ы|и|ов|ев|ам|ям|ами|ями|ах|ях|)"
    ),
    is_nominal=_is_nominal,
    verb_ending=re.compile(
        r".{2,}(?:йте|йтесь|[бвджзклмнпрстшщ]ите|итесь|[аеиуыя]ться|[аеиуыю]тся|[аяеи]ешь|ишь|ует|уют|ают|яют)"
    ),
    agent_ending=re.compile(
        r".{2,}(?:(?:[нщч]иц|истк|анк|янк|антк|ентк|ичк)(?:а|ы|и|е|у|ам|ами|ах|)|(?:ист|ан|ян|ант|ент)ок|ичек|(?:тел|ник|щик|чик|ист|анин|янин|ант|ич)"
        r"(?:ь|я|ю|а|у|ом|ем|и|ы|ей|ов|ам|ям|ами|ями|ах|ях|))"
    ),
    ambiguous_adjective=re.compile(r".*[ое]й"),
    standalone={word: gender for gender, words in _ALONE.items() for word in words.split()},
)
