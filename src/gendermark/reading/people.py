"""People in an English text: every mention, which mentions are of one person, and the gender that words give them.

A mention is a noun for people, a name or a pronoun, found in the parse of the text and in the word lists of
`languages/en`. Mentions are joined by grammar (apposition, "X is a Y", relative pronouns), by repeated names, and, for
he, she and they, by the best earlier person that fits in gender and number. Pronouns, kinship, titles and words such as
"female" give a gender; first names do not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.resources import files
from typing import Literal

from gendermark.reading.parser import Word, parse
from gendermark.records import Gender

Span = tuple[int, int]
Kind = Literal["noun", "name", "pronoun", "addressee", "speaker"]

_M, _F = Gender.MASCULINE, Gender.FEMININE


@dataclass(frozen=True, slots=True)
class SourcePerson:
    """A person, or a group of people, in an English text."""

    text: str
    """The main mention: a noun, else a name, else a pronoun."""
    start: int
    end: int
    mentions: tuple[Span, ...]
    """Characters of every mention, pronouns included, in order."""
    head: str
    """Head word of the main mention, singular and lower case: "officer"."""
    noun: str
    """The main mention, singular and lower case: "police officer"."""
    gender: Gender | None
    """What words of the text say; None where they leave it open."""
    kind: Kind
    plural: bool


def people_in(text: str) -> list[SourcePerson]:
    """Find the people in an English text, in order of their first mention."""
    return people_in_all([text])[0]


def people_in_all(texts: Sequence[str]) -> list[list[SourcePerson]]:
    """Find the people in each of many texts; faster than one call per text."""
    distinct = list(dict.fromkeys(texts))
    found = dict(zip(distinct, map(_read, distinct, parse(distinct)), strict=True))
    return [found[text] for text in texts]


def _read(text: str, words: Sequence[Word]) -> list[SourcePerson]:
    return _Reader(text, words).people()


# -- word lists --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Lists:
    """The words of `languages/en`, lower case unless they are names."""

    people: frozenset[str]
    nationalities: frozenset[str]
    possible: frozenset[str]
    genders: Mapping[str, Gender]
    before: Mapping[str, Gender]
    titles: Mapping[str, Gender | None]
    devices: frozenset[str]
    ambiguous: frozenset[str]
    groups: frozenset[str]
    adjectives: frozenset[str]
    indefinite: frozenset[str]
    quantifiers: frozenset[str]
    verbs: frozenset[str]
    irregular: Mapping[str, str]
    given: frozenset[str]
    places: frozenset[str]
    organisations: frozenset[str]


@cache
def _lists() -> _Lists:
    import tomllib

    folder = files("gendermark") / "languages" / "en"
    own = tomllib.loads((folder / "people.toml").read_text(encoding="utf-8"))
    derived: dict[str, list[str]] = {}
    for line in (folder / "wordnet.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            entries = derived.setdefault(line.strip("[]"), [])
        elif not line.startswith("#"):
            entries.extend(line.split())

    def mine(section: str, name: str) -> frozenset[str]:
        return frozenset(own[section][name].split())

    def lower(name: str) -> frozenset[str]:
        return frozenset(word.lower() for word in derived[name])

    opened, things = mine("gender", "open"), mine("nouns", "things")
    genders = {
        **dict.fromkeys(lower("masculine") - opened, _M),
        **dict.fromkeys(lower("feminine") - opened, _F),
        **dict.fromkeys(mine("gender", "masculine"), _M),
        **dict.fromkeys(mine("gender", "feminine"), _F),
    }
    people = lower("people") | lower("masculine") | lower("feminine") | mine("nouns", "people") | genders.keys()
    return _Lists(
        people=(people | mine("nationalities", "people")) - things,
        nationalities=mine("nationalities", "people"),
        possible=(lower("possible") | mine("nouns", "possible")) - people - things,
        genders={word: gender for word, gender in genders.items() if word not in opened},
        before={word: Gender(gender) for word, gender in own["gender"]["before"].items()},
        titles={
            **dict.fromkeys(mine("titles", "masculine"), _M),
            **dict.fromkeys(mine("titles", "feminine"), _F),
            **dict.fromkeys(mine("titles", "open"), None),
        },
        devices=mine("nouns", "devices"),
        ambiguous=mine("nouns", "ambiguous"),
        groups=mine("groups", "collective"),
        adjectives=mine("adjectives", "people"),
        indefinite=mine("pronouns", "indefinite"),
        quantifiers=mine("pronouns", "quantifiers"),
        verbs=mine("verbs", "human"),
        irregular=dict(pair.split("=") for pair in own["verbs"]["irregular"].split()),
        given=frozenset(derived["given"]) | mine("names", "given"),
        places=frozenset(derived["places"]),
        organisations=mine("names", "organisations"),
    )


_IRREGULAR_PLURALS = {
    "men": "man",
    "women": "woman",
    "children": "child",
    "grandchildren": "grandchild",
    "people": "people",
}


_TOLD = frozenset(
    [
        "tell",
        "ask",
        "thank",
        "congratulate",
        "greet",
        "invite",
        "marry",
        "divorce",
        "hire",
        "appoint",
        "elect",
        "arrest",
        "convict",
        "murder",
        "meet",
    ]
)


@lru_cache(maxsize=50_000)
def _singular(word: str) -> str:
    """The singular of a noun, as the lists have it; the noun itself if it is none of theirs."""
    lists = _lists()
    known = lists.people | lists.possible | lists.groups | lists.titles.keys()
    if word in _IRREGULAR_PLURALS:
        return _IRREGULAR_PLURALS[word]
    if word in known or len(word) < 4:
        return word
    tries = [word[:-1]] if word.endswith("s") else []
    if word.endswith(("ses", "xes", "zes", "ches", "shes", "oes")):
        tries.append(word[:-2])
    if word.endswith("ies"):
        tries.insert(0, f"{word[:-3]}y")
    if word.endswith("ves"):
        tries += [f"{word[:-3]}f", f"{word[:-3]}fe"]
    if word.endswith("men"):
        tries.append(f"{word[:-3]}man")
    if word.endswith("women"):
        tries.insert(0, f"{word[:-5]}woman")
    if word.endswith("people"):
        tries.append(f"{word[:-6]}person")
    if word.endswith("children"):
        tries.append(word[:-3])
    return next((one for one in tries if one in known or _is_derived(one)), word)


_ENDINGS = (
    "person",
    "ologist",
    "ographer",
    "cist",
    "graphist",
    "iatrist",
    "arian",
    "ician",
    "worker",
    "maker",
    "keeper",
)


@lru_cache(maxsize=50_000)
def _is_compound(noun: str) -> bool:
    """Whether a noun ends in man or woman: "signalman"."""
    return (
        noun.endswith(("man", "woman")) and len(noun) > 6 and not noun.endswith(("human", "german", "roman", "ottoman"))
    )


@lru_cache(maxsize=50_000)
def _is_derived(noun: str) -> bool:
    """Whether a noun that no list has ends as nouns for people do: "radiologist"."""
    return _is_compound(noun) or (noun.endswith(_ENDINGS) and len(noun) > 7)


@lru_cache(maxsize=50_000)
def _verb(form: str) -> str:
    """The base form of a verb if it is one of those with human subjects."""
    verbs = _lists().verbs
    if form in _lists().irregular:
        return _lists().irregular[form]
    tries = [form]
    for ending in ("s", "es", "d", "ed", "ing"):
        if form.endswith(ending):
            stem = form[: -len(ending)]
            tries += [stem, f"{stem}e", stem[:-1]] if len(stem) > 2 else [stem]
            if stem.endswith("i"):
                tries.append(f"{stem[:-1]}y")
    return next((one for one in tries if one in verbs), "")


@lru_cache(maxsize=50_000)
def _gender(noun: str) -> Gender | None:
    """The gender that a noun in the singular states."""
    lists = _lists()
    if noun in lists.genders:
        return lists.genders[noun]
    if noun in lists.people and not _is_compound(noun):
        return _F if noun.endswith("ess") and noun[:-3] in lists.people else None
    if noun in ("freshman", "layman"):
        return None
    if noun.endswith("woman"):
        return _F
    return _M if noun.endswith("man") and _is_compound(noun) else None


# -- mentions ----------------------------------------------------------------------------------------------------------

# person: its subject, object, possessive and reflexive forms
_FORMS = """
he: he | him | his | himself
she: she | her | hers | herself
they: they | them 'em | their theirs | themselves themself
i: i | me mine | my | myself
we: we | us ours | our | ourselves
you: you ya | yours | your | yourself yourselves
"""
_PRONOUNS = {
    form: (person, case)
    for person, _, forms in (line.partition(": ") for line in _FORMS.strip().splitlines())
    for case, same in zip(("subject", "object", "possessive", "reflexive"), forms.split("|"), strict=True)
    for form in same.split()
}
_OWN_GENDER = {"he": _M, "she": _F}
_SUBJECTS = ("nsubj", "nsubj:pass", "csubj", "nsubj:outer")
_ARGUMENTS = (
    *_SUBJECTS,
    "obj",
    "iobj",
    "obl",
    "conj",
    "nmod",
    "nmod:poss",
    "ROOT",
    "appos",
    "vocative",
    "root",
    "dep",
    "parataxis",
)
_CLAUSES = ("ROOT", "advcl", "ccomp", "xcomp", "acl", "acl:relcl", "conj", "parataxis", "csubj")


@dataclass(slots=True, eq=False)
class _Mention:
    """Words [first, last] that mention somebody; `word` is the head."""

    word: Word
    first: int
    last: int
    kind: Kind
    noun: str
    head: str
    gender: Gender | None = None
    plural: bool = False
    person: str = ""
    """Of a pronoun: he, she, they, I, we, you or who."""
    case: str = ""
    """Of a pronoun: subject, object, possessive or reflexive."""
    doubtful: bool = False
    """A pronoun or name that is no person unless another mention joins it."""


@dataclass(slots=True, eq=False)
class _Person:
    mentions: list[_Mention] = field(default_factory=list)

    @property
    def gender(self) -> Gender | None:
        found = {mention.gender for mention in self.mentions if mention.gender}
        return found.pop() if len(found) == 1 else None

    @property
    def plural(self) -> bool:
        nouns = [one for one in self.mentions if one.kind in ("noun", "name")] or self.mentions
        return nouns[0].plural

    @property
    def kinds(self) -> set[str]:
        return {mention.kind for mention in self.mentions}


class _Reader:
    """Reads one text: `mentions` in order, each in the person that `of` gives."""

    def __init__(self, text: str, words: Sequence[Word]) -> None:
        self.text = text
        self.words = words
        self.lists = _lists()
        self.mentions: list[_Mention] = []
        self.at: dict[int, _Mention] = {}
        self.of: dict[int, _Person] = {}
        self._find_mentions()
        self._join_by_grammar()
        self._join_names()
        self._join_pronouns()

    # finding

    def _add(self, mention: _Mention) -> None:
        self.mentions.append(mention)
        for index in range(mention.first, mention.last + 1):
            self.at.setdefault(index, mention)
        self.at[mention.word.index] = mention
        self.of[id(mention)] = _Person([mention])

    def _find_mentions(self) -> None:
        names = {run[0]: run for run in self._name_runs()}
        index = 0
        pending: list[_Mention] = []
        while index < len(self.words):
            if index in names:
                mention, index = self._named(*names[index]), names[index][1] + 1
            else:
                mention, index = self._mention_at(self.words[index]), index + 1
            if mention is not None:
                pending.append(mention)
                index = max(index, mention.last + 1)
        for mention in pending:
            self._add(mention)

    def _mention_at(self, word: Word) -> _Mention | None:
        lower = word.lower
        if lower in _PRONOUNS and not (lower == "mine" and word.tag.startswith("NN")):
            return self._pronoun(word)
        if lower in ("who", "whom", "whose"):
            return _Mention(
                word, word.index, word.index, "pronoun", "who", "who", person="who", doubtful=lower == "whose"
            )
        if lower in self.lists.indefinite:
            return _Mention(word, word.index, word.index, "pronoun", lower, lower, person="one")
        if lower == "one" and word.index and self.words[word.index - 1].lower in ("no", "any", "every", "some"):
            return _Mention(word, word.index - 1, word.index, "pronoun", "someone", "someone", person="one")
        if word.tag.startswith("NN"):
            return self._noun(word)
        if lower in self.lists.quantifiers or word.tag == "CD":
            return self._quantifier(word)
        if word.tag.startswith(("JJ", "VB")) and lower in self.lists.adjectives | self.lists.nationalities:
            return self._adjective(word)
        return None

    def _pronoun(self, word: Word) -> _Mention:
        person, case = _PRONOUNS[word.lower]
        if word.lower == "her" and word.tag == "PRP$":
            case = "possessive"
        elif word.lower == "you" and word.relation not in _SUBJECTS:
            case = "object"
        kind: Kind = "speaker" if person in ("i", "we") else "addressee" if person == "you" else "pronoun"
        doubtful = case == "possessive" and person not in ("he", "she")
        return _Mention(
            word, word.index, word.index, kind, word.lower, word.lower, _OWN_GENDER.get(person),
            person in ("they", "we"), person, case, doubtful,
        )  # fmt: skip

    def _noun(self, word: Word) -> _Mention | None:
        lower, first, last = word.lower, word.index, word.index
        joined = self._hyphenated(word)
        if joined:
            lower, first, last = joined
        head = _singular(lower)
        lists = self.lists
        is_group = head in lists.groups
        if not (head in lists.people or _is_derived(head) or head in lists.possible or is_group):
            return None
        if self._modifies(word):
            return None
        while (
            first
            and self.words[first - 1].relation in ("compound", "amod")
            and self.words[first - 1].tag in ("NN", "NNS", "HYPH")
        ):
            if self.words[first - 1].head not in range(first - 1, last + 1):
                break
            first -= 1
        before = [self.words[index].lower for index in range(first, word.index)]
        if head in lists.ambiguous and (set(before) | {self.words[one].lower for one in word.children}) & lists.devices:
            return None
        if head in lists.possible and not joined and not self._acts_as_person(word):
            return None
        gender = _gender(head) or self._modifier_gender(word)
        if lower == "guys":
            gender = None
        noun = " ".join([*before, head])
        plural = word.tag in ("NNS", "NNPS") or (head != lower) or head == "people" or is_group
        return _Mention(word, first, last, "noun", noun, head, gender, plural)

    def _hyphenated(self, word: Word) -> tuple[str, int, int] | None:
        """The longest hyphenated noun of the lists around a word: "brother-in-law"."""
        first = last = word.index
        while first >= 2 and self.words[first - 1].text == "-" and self._touch(first - 2, first):
            first -= 2
        while last + 2 < len(self.words) and self.words[last + 1].text == "-" and self._touch(last, last + 2):
            last += 2
        if first == last:
            return None
        whole = self.text[self.words[first].start : self.words[last].end].lower()
        head, dash, rest = whole.partition("-")
        for one in (whole, f"{_singular(head)}{dash}{rest}"):
            if _singular(one) in self.lists.people:
                return one, first, last
        return (word.lower, first, last) if last == word.index and _singular(word.lower) in self.lists.people else None

    def _touch(self, left: int, right: int) -> bool:
        return self.words[left].end + 1 == self.words[right].start

    def _modifies(self, word: Word) -> bool:
        """Whether a noun only modifies a noun that is no person: "student union"."""
        if word.relation not in ("compound", "nmod:desc", "amod", "flat") or word.head <= word.index:
            return False
        head = self.words[word.head]
        return not (_singular(head.lower) in self.lists.people or self._is_name(head))

    def _is_name(self, word: Word) -> bool:
        return word.tag in ("NNP", "NNPS") and word.text[:1].isupper()

    def _modifier_gender(self, word: Word) -> Gender | None:
        for index in range(max(0, word.index - 4), word.index):
            one = self.words[index]
            if one.lower in self.lists.before and one.head == word.index:
                return self.lists.before[one.lower]
        return None

    def _acts_as_person(self, word: Word) -> bool:
        """Whether the text treats a noun as a person: "the star, who ...", "she is a model"."""
        if any(
            self.words[one].lower in ("who", "whom", "whose")
            for child in word.children
            for one in self.words[child].children
        ):
            return True
        if word.relation in _SUBJECTS and _verb(self.words[word.head].lower) and self._determined(word):
            return True
        if any(self.words[child].relation == "cop" for child in word.children):
            subjects = [self.words[child] for child in word.children if self.words[child].relation in _SUBJECTS]
            return any(
                one.lower in ("i", "you", "he", "she", "we", "who") or _singular(one.lower) in self.lists.people
                for one in subjects
            )
        return False

    def _determined(self, word: Word) -> bool:
        return any(self.words[child].relation in ("det", "nmod:poss") for child in word.children)

    def _quantifier(self, word: Word) -> _Mention | None:
        """ "Those who ...", "few", "one of them", as a word of its own."""
        if word.relation in ("det", "nummod", "advmod", "amod", "det:predet", "compound", "cc:preconj", "case", "mark"):
            return None
        children = [self.words[child] for child in word.children]
        has_who = any(
            self.words[one].lower in ("who", "whom", "whose")
            for child in children
            for one in self.words[child.index].children
        )
        has_who = has_who or (word.index + 1 < len(self.words) and self.words[word.index + 1].lower == "who")
        has_of = any(child.relation == "nmod" and child.index > word.index for child in children)
        acts = word.relation in _SUBJECTS and bool(_verb(self.words[word.head].lower)) and word.tag != "CD"
        if has_of or not (has_who or acts or word.lower == "others"):
            return None
        plural = word.lower not in ("one", "each", "another", "other", "neither", "either")
        return _Mention(word, word.index, word.index, "noun", word.lower, word.lower, None, plural)

    def _adjective(self, word: Word) -> _Mention | None:
        """ "The elderly", "the Belgian"."""
        before = self.words[word.index - 1] if word.index else None
        determiner = any(self.words[child].lower in ("the", "a", "an", "those", "these") for child in word.children)
        if (
            word.relation not in _ARGUMENTS
            or word.relation == "ROOT"
            or not (determiner or (before and before.lower == "the"))
        ):
            return None
        plural = word.lower in self.lists.adjectives
        return _Mention(word, word.index, word.index, "noun", word.lower, word.lower, None, plural)

    # names

    def _name_runs(self) -> Iterator[tuple[int, int]]:
        """Runs [first, last] of capitalised proper nouns."""
        index = 0
        while index < len(self.words):
            if not self._in_name(index):
                index += 1
                continue
            last = index
            while last + 1 < len(self.words) and (
                self._in_name(last + 1)
                or (
                    self.words[last + 1].lower
                    in ("de", "van", "von", "der", "da", "del", "di", "la", "le", "al", "bin", "-")
                    and any(self._in_name(after) for after in (last + 2, last + 3) if after < len(self.words))
                    and self.words[last + 1].tag not in ("IN", "CC", "TO", ",")
                )
            ):
                last += 1
            yield index, last
            index = last + 1

    def _in_name(self, index: int) -> bool:
        word = self.words[index]
        if not word.text[0].isupper() or word.lower in _PRONOUNS:
            return False
        return (
            word.tag in ("NNP", "NNPS")
            or word.text in self.lists.given
            or (word.lower in self.lists.titles and word.tag == "NN")
        )

    def _named(self, first: int, last: int) -> _Mention | None:
        words = self.words[first : last + 1]
        lists = self.lists
        kinds = [_singular(word.lower) in lists.people or word.lower in lists.titles for word in words]
        nouns = [place for place, is_noun in enumerate(kinds) if is_noun and words[place].text not in lists.given]
        if (
            kinds[-1]
            and (len(words) == 1 or words[-1].lower not in lists.titles or all(kinds))
            and not self._surname(words)
        ):
            return self._noun(words[-1]) or self._noun_from_title(words[-1])
        begin = next((place + 1 for place in reversed(nouns) if place + 1 < len(words)), 0)
        name = words[begin:]
        if begin and words[begin - 1].lower in lists.nationalities:
            return None
        titles = [word for word in words[:begin] if word.lower in lists.titles or _singular(word.lower) in lists.people]
        gender = next(
            (gender for word in titles if (gender := lists.titles.get(word.lower) or _gender(_singular(word.lower)))),
            None,
        )
        if not titles and not self._is_person(name):
            return None
        head = max((word for word in name), key=lambda word: word.head not in range(first, last + 1))
        text = self.text[name[0].start : name[-1].end]
        return _Mention(
            head, words[begin - len(titles)].index if titles else name[0].index, last, "name", text, name[-1].text,
            gender, plural=False, doubtful=not titles and self._needs_proof(name),
        )  # fmt: skip

    def _surname(self, words: Sequence[Word]) -> bool:
        """Whether the noun that ends a run is a surname: "Mr Baker", "Anna Cook"."""
        return len(words) > 1 and words[0].text in self.lists.given | {
            "Mr",
            "Mrs",
            "Ms",
            "Mr.",
            "Mrs.",
            "Ms.",
            "Dr",
            "Dr.",
            "Miss",
        }

    def _noun_from_title(self, word: Word) -> _Mention | None:
        if self._modifies(word) or word.lower not in self.lists.titles:
            return None
        return _Mention(word, word.index, word.index, "noun", word.lower, word.lower, self.lists.titles[word.lower])

    def _is_person(self, name: Sequence[Word]) -> bool:
        """Whether nothing speaks against a run of capitalised words being a person's name."""
        lists, head = self.lists, name[-1]
        if any(word.lower in lists.organisations for word in name) or all(
            word.text.isupper() and len(word.text) > 1 for word in name
        ):
            return False
        if name[0].text in lists.places and len(name) == 1 and name[0].text not in lists.given:
            return False
        before = self.words[name[0].index - 1] if name[0].index else None
        if before is not None and before.lower in ("the", "a", "an", "this"):
            return False
        after = self.words[head.index + 1] if head.index + 1 < len(self.words) else None
        if after is not None and after.tag in ("NN", "NNS") and head.relation in ("compound", "nmod:desc", "amod"):
            return _singular(after.lower) in lists.people
        return True

    def _needs_proof(self, name: Sequence[Word]) -> bool:
        before = self.words[name[0].index - 1].lower if name[0].index else ""
        is_place = name[0].text in self.lists.places and before in ("in", "to", "from", "at", "near", "of", "through")
        return name[0].text not in self.lists.given or (len(name) == 1 and is_place)

    # joining

    def _join(self, one: _Mention | None, other: _Mention | None) -> bool:
        if one is None or other is None or one is other:
            return False
        left, right = self.of[id(one)], self.of[id(other)]
        if left is right:
            return True
        if left.gender and right.gender and left.gender is not right.gender:
            return False
        if {"speaker", "addressee"} <= left.kinds | right.kinds:
            return False
        left.mentions = sorted([*left.mentions, *right.mentions], key=lambda mention: mention.first)
        for mention in right.mentions:
            self.of[id(mention)] = left
        return True

    def _child(self, word: Word, *relations: str) -> Word | None:
        return next((self.words[child] for child in word.children if self.words[child].relation in relations), None)

    def _subject(self, verb: Word) -> _Mention | None:
        """The person who is the subject of a verb; a joined or open clause has that of its head."""
        for _ in range(4):
            subject = self._child(verb, *_SUBJECTS)
            if subject is not None:
                return self.at.get(subject.index)
            if verb.relation not in ("conj", "xcomp", "advcl") or verb.head == verb.index:
                return None
            verb = self.words[verb.head]
        return None

    def _negated(self, word: Word) -> bool:
        return any(self.words[child].lower in ("not", "n't", "never", "no") for child in word.children)

    def _join_by_grammar(self) -> None:
        for mention in list(self.mentions):
            word = mention.word
            head = self.at.get(word.head) if word.head != word.index else None
            if mention.person == "who" and self._child(word, "cop") is not None:
                self._join_predicate(mention)
            elif mention.person == "who":
                self._join_relative(mention)
            elif mention.kind in ("noun", "name"):
                if (
                    head is not None
                    and head is not mention
                    and word.relation in ("compound", "nmod:desc", "flat")
                    and not head.plural
                ) or (head is not None and word.relation == "appos" and self._may_rename(head, mention)):
                    self._join(head, mention)
                elif word.relation == "vocative" or (word.lower in ("sir", "madam", "ma'am") and word.index == 0):
                    self._join(mention, next((one for one in self.mentions if one.person == "you"), None))
                self._join_name_behind(mention)
                self._join_predicate(mention)

    def _may_rename(self, one: _Mention, other: _Mention) -> bool:
        if one.plural != other.plural:
            return False
        return one.kind != other.kind or self._determined(other.word)

    def _join_name_behind(self, noun: _Mention) -> None:
        """ "Her editor Maria Lopez", "her editor, Maria Lopez,"."""
        if noun.kind != "noun" or noun.plural or noun.last + 1 >= len(self.words):
            return
        comma = self.words[noun.last + 1].text == ","
        name = self.at.get(noun.last + 1 + comma)
        if name is None or name.kind != "name" or name.first != noun.last + 1 + comma or name.word.relation == "conj":
            return
        after = self.words[name.last + 1].text if name.last + 1 < len(self.words) else "."
        if not comma or (after in ",.;:" and name.word.relation not in _SUBJECTS):
            self._join(noun, name)

    def _join_predicate(self, noun: _Mention) -> None:
        word = noun.word
        if self._child(word, "cop") is not None:
            subject = self._child(word, *_SUBJECTS)
            if subject is not None and not self._negated(word):
                self._join_equal(self.at.get(subject.index), noun)
            return
        verb = self.words[word.head]
        case = self._child(word, "case")
        if word.relation in ("xcomp", "obj", "obl", "ccomp") and verb.lower in (
            "become",
            "becomes",
            "became",
            "becoming",
            "remain",
            "remained",
            "remains",
        ):
            self._join_equal(self._subject(verb), noun)
        elif word.relation in ("obl", "nmod", "advcl") and case is not None and case.lower == "as":
            self._join_equal(self.at.get(verb.index) or self._subject(verb), noun)
        elif word.relation in ("xcomp", "obj") and verb.lower in (
            "appointed",
            "elected",
            "named",
            "called",
            "made",
            "declared",
            "crowned",
        ):
            passive = self._child(verb, "nsubj:pass")
            object_ = passive or next(
                (self.words[one] for one in verb.children if self.words[one].relation == "obj" and one != word.index),
                None,
            )
            if object_ is not None:
                self._join_equal(self.at.get(object_.index), noun)

    def _join_equal(self, subject: _Mention | None, noun: _Mention) -> None:
        if subject is None:
            return
        person = self.of[id(subject)]
        if person.plural == noun.plural or subject.person in ("you", "who", "they"):
            self._join(subject, noun)

    def _join_relative(self, who: _Mention) -> None:
        clause = who.word
        for _ in range(6):
            if clause.relation.startswith("acl"):
                break
            if clause.head == clause.index:
                clause = None  # type: ignore[assignment]
                break
            clause = self.words[clause.head]
        antecedent = self.at.get(clause.head) if clause is not None and clause.head < who.first else None
        if antecedent is None and who.first and who.word.lower != "who":
            return
        if antecedent is None:
            before = [one for one in self.mentions if one.last < who.first and one.last >= who.first - 2]
            antecedent = before[-1] if before else None
        if antecedent is not None:
            self._join(antecedent, who)

    def _join_names(self) -> None:
        """Join names that repeat a part of an earlier one: "Marie Curie ... Curie"."""
        names = [one for one in self.mentions if one.kind == "name"]
        for place, later in enumerate(names):
            for earlier in names[:place]:
                parts = set(earlier.noun.split())
                if set(later.noun.split()) <= parts or (parts <= set(later.noun.split())):
                    self._join(earlier, later)
                    break

    # pronouns

    def _join_pronouns(self) -> None:
        for person in ("i", "we", "you"):
            group = [one for one in self.mentions if one.person == person]
            for one in group[1:]:
                self._join(group[0], one)
        for mention in self.mentions:
            if mention.person in ("he", "she", "they"):
                self._resolve(mention)

    def _resolve(self, pronoun: _Mention) -> None:
        twin = self._he_or_she(pronoun)
        if twin is not None:
            pronoun.gender = twin.gender = None
            if twin.first < pronoun.first:
                self._join(twin, pronoun)
                return
        scored = [
            (score, person)
            for person in self._persons()
            if person is not self.of[id(pronoun)] and (score := self._score(pronoun, person)) is not None
        ]
        if scored:
            best = max(scored, key=lambda pair: pair[0])[1]
            self._join(best.mentions[0], pronoun)
        elif pronoun.person == "they" and len(self.of[id(pronoun)].mentions) == 1:
            pronoun.doubtful = pronoun.doubtful or self._means_things(pronoun)

    def _he_or_she(self, pronoun: _Mention) -> _Mention | None:
        """The other half of "he or she", "his/her"."""
        for other in self.mentions:
            if other.person in ("he", "she") and other.person != pronoun.person and pronoun.person != "they":
                left, right = sorted((other, pronoun), key=lambda one: one.first)
                if right.first - left.last == 2 and self.words[left.last + 1].lower in ("or", "/", "and"):
                    return other
        return None

    def _persons(self) -> list[_Person]:
        found: dict[int, _Person] = {}
        for mention in self.mentions:
            person = self.of[id(mention)]
            found.setdefault(id(person), person)
        return list(found.values())

    def _score(self, pronoun: _Mention, person: _Person) -> float | None:
        """How well a person fits a pronoun; None if it cannot be."""
        if person.kinds & {"speaker", "addressee"}:
            return None
        before = [one for one in person.mentions if one.first < pronoun.first]
        if not before:
            return self._score_cataphor(pronoun, person)
        last = before[-1]
        distance = pronoun.word.sentence - last.word.sentence
        if distance > 3:
            return None
        score = 0.0
        if pronoun.person == "they":
            if not person.plural:
                if person.gender or pronoun.gender:
                    return None
                singular = person.mentions[0]
                if not (singular.person in ("one", "who") or self._is_generic(singular)):
                    return None
                score -= 0.5
        else:
            if person.plural or (person.gender and person.gender is not pronoun.gender):
                return None
            if any(one.person == "they" and one.case == "subject" for one in person.mentions):
                score -= 1
            if person.gender is pronoun.gender:
                score += 4
        if any(self._coarguments(pronoun, one) for one in before):
            return None
        subjects = [one for one in before if one.word.relation in _SUBJECTS]
        if subjects:
            score += 2
        clause = self._subject(self._verb_of(pronoun.word))
        if clause is not None and self.of[id(clause)] is person:
            score += 3 if pronoun.case in ("possessive", "reflexive") else 0
        if last.word.relation == "nmod:poss" and not last.person:
            score -= 1.5
        if pronoun.case == "subject" and last.word.relation in _SUBJECTS:
            score += 0.5
        if any(one.kind == "name" for one in person.mentions):
            score += 0.5
        if last.person == "one":
            score -= 0.5
        return score - 1.5 * distance - 0.05 * (pronoun.first - last.last)

    def _is_generic(self, noun: _Mention) -> bool:
        """ "A user", "each member": "they" can mean one of them."""
        generic = ("a", "an", "any", "every", "each", "no", "another")
        return any(self.words[child].lower in generic for child in noun.word.children)

    def _score_cataphor(self, pronoun: _Mention, person: _Person) -> float | None:
        """ "In her first book, Smith ...", "When he arrived, the doctor ..."."""
        first = person.mentions[0]
        if first.word.sentence != pronoun.word.sentence or first.person or first.word.relation not in _SUBJECTS:
            return None
        if pronoun.case not in ("possessive", "subject") or person.plural != (pronoun.person == "they"):
            return None
        if person.gender and person.gender is not pronoun.gender:
            return None
        verb = self.words[first.word.head]
        clause = self._verb_of(pronoun.word)
        fronted = (
            clause is verb if pronoun.case == "possessive" else clause.relation == "advcl" and clause.head == verb.index
        )
        if not fronted or not any(self.words[index].text == "," for index in range(pronoun.last, first.first)):
            return None
        return -5.0

    def _verb_of(self, word: Word) -> Word:
        """The head of the clause that a word is in."""
        word = self.words[word.head]
        for _ in range(12):
            if word.relation in _CLAUSES and (word.relation != "conj" or word.tag.startswith("V")):
                return word
            if word.head == word.index:
                return word
            word = self.words[word.head]
        return word

    def _coarguments(self, pronoun: _Mention, other: _Mention) -> bool:
        """Whether the two are subject and object of one verb, and so different people unless one is reflexive."""
        if pronoun.case in ("possessive", "reflexive"):
            # "the owner of her employee": a noun is not part of itself
            return False
        if other.case == "possessive":
            return False
        mine, theirs = pronoun.word, other.word
        if mine.head == theirs.head and mine.head not in (mine.index, theirs.index):
            return mine.relation != theirs.relation and "conj" not in (mine.relation, theirs.relation)
        return theirs.relation == "conj" and mine.head == theirs.index

    def _means_things(self, pronoun: _Mention) -> bool:
        """Whether "they" has a plural of things before it and does nothing human."""
        if pronoun.case == "subject" and _verb(self.words[pronoun.word.head].lower):
            return False
        return any(word.tag in ("NNS", "NNPS") and word.index not in self.at for word in self.words[: pronoun.first])

    # result

    def people(self) -> list[SourcePerson]:
        found = [self._made(person) for person in self._persons() if self._is_sound(person)]
        return sorted(found, key=lambda person: person.mentions[0])

    def _is_sound(self, person: _Person) -> bool:
        if any(not one.doubtful for one in person.mentions):
            return True
        names = [one for one in person.mentions if one.kind == "name"]
        return (len(person.mentions) > 1 and bool(names)) or any(self._acts(one) for one in names)

    def _acts(self, name: _Mention) -> bool:
        """Whether a name does what people do."""
        word = name.word
        verb = self.words[word.head]
        if word.relation in (*_SUBJECTS, "obj", "iobj") and _verb(verb.lower) in (
            _TOLD if word.relation in ("obj", "iobj") else self.lists.verbs
        ):
            return True
        kin = self.at.get(word.head)
        return word.relation == "nmod:poss" and kin is not None and kin.gender is not None

    def _made(self, person: _Person) -> SourcePerson:
        order = {"noun": 0, "name": 1, "speaker": 2, "addressee": 2, "pronoun": 2}
        main = min(
            person.mentions,
            key=lambda one: (order[one.kind] if one.person != "who" else 3, one.case == "possessive", one.first),
        )
        spans = tuple((self.words[one.first].start, self.words[one.last].end) for one in person.mentions)
        start, end = self.words[main.first].start, self.words[main.last].end
        kinds = person.kinds
        kind: Kind = "speaker" if "speaker" in kinds else "addressee" if "addressee" in kinds else main.kind
        return SourcePerson(
            self.text[start:end], start, end, spans, main.head, main.noun, person.gender, kind, person.plural
        )
