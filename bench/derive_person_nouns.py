"""Derive English nouns for people, given names and place names from WordNet 3.0.

Run: python bench/derive_person_nouns.py [/usr/share/wordnet] > src/gendermark/languages/en/wordnet.txt
(Debian's package wordnet-base holds the files.) A noun is listed if its first and most frequent sense is a person;
`possible` lists nouns with a person among their first senses, which the reader accepts only with other evidence;
`other` lists those of all nouns for people that are also verbs or adjectives.
"""

import re
import sys
import textwrap
import tomllib
from collections import Counter, defaultdict
from pathlib import Path

OWN = Path(__file__).parents[1] / "src" / "gendermark" / "languages" / "en"
PERSON, LOCATION, FEMALE, MALE = "00007846", "00027167", "09619168", "09624168"
HEADER = """\
# English nouns for people, given names and places, derived from WordNet 3.0 by bench/derive_person_nouns.py.
# WordNet 3.0 Copyright 2006 by Princeton University. All rights reserved. Licence: WORDNET-LICENSE.txt.
# Fellbaum, C. (ed.) 1998. WordNet: An Electronic Lexical Database. Cambridge, MA: MIT Press.
"""
# Usually a thing or an adjective, whatever WordNet puts first.
THINGS = frozenset(
    [
        "great",
        "dry",
        "have",
        "have-not",
        "git",
        "gay",
        "modern",
        "neutral",
        "ordinary",
        "regular",
        "stiff",
        "tackle",
        "pop",
        "hood",
        "whale",
        "ancient",
        "private",
        "junior",
        "senior",
        "major",
        "temporary",
        "cut-up",
        "noble",
        "crazy",
        "tough",
        "rustic",
        "alternate",
        "lovely",
        "steady",
        "sensitive",
        "secular",
        "broad",
        "buff",
        "tease",
        "primate",
        "sucker",
        "sleeper",
        "hack",
        "equal",
        "superior",
        "national",
        "chosen",
        "deadhead",
        "classifier",
        "collector",
        "distributor",
        "controller",
        "punk",
        "skunk",
        "prick",
        "ringer",
        "plotter",
        "preserver",
        "puncher",
        "seasonal",
        "segregate",
        "severe",
        "domestic",
        "federal",
        "silly",
        "stupid",
        "don",
        "da",
        "fo",
        "po",
        "kp",
        "dp",
        "dj",
        "anti",
        "contra",
        "mod",
        "ted",
        "rex",
        "jerry",
        "johnny",
        "mickey",
        "dear",
        "general",
        "dependent",
        "cardinal",
        "auxiliary",
        "batter",
        "catcher",
        "pitcher",
        "coach",
        "tramp",
        "drunk",
        "dead",
        "married",
        "departed",
        "bereaved",
        "insured",
        "pursued",
        "chased",
        "colored",
        "religious",
        "contemplative",
        "diocesan",
        "provincial",
        "metropolitan",
        "obsessive",
        "paranoid",
        "psychotic",
        "rheumatic",
        "stigmatic",
        "melancholic",
        "manic-depressive",
        "ethnic",
        "oriental",
        "occidental",
        "pagan",
        "gnostic",
        "latin",
        "bourbon",
        "georgian",
        "roman",
        "babylonian",
        "apache",
        "platonist",
        "virgin",
        "twin",
        "highness",
        "personification",
        "embodiment",
        "offspring",
        "progeny",
        "mortal",
        "pro",
        "comic",
        "compulsive",
        "desperate",
        "erotic",
        "infernal",
        "innocent",
        "immune",
        "incurable",
        "probable",
        "pseudo",
        "literate",
        "illiterate",
        "bilingual",
        "monolingual",
        "brachycephalic",
        "dichromat",
        "monochromat",
        "motile",
        "testate",
        "tubercular",
        "transalpine",
        "ultramontane",
        "untouchable",
        "seneschal",
        "scold",
        "shrink",
        "sneak",
        "snoop",
        "speaker's",
        "steady",
        "stay-at-home",
        "sweetie",
        "telltale",
        "temp",
        "trusty",
        "tout",
        "tike",
        "undesirable",
        "vestal",
        "visionary",
        "wanton",
        "whiz",
        "wiz",
        "whizz",
        "worthy",
        "zany",
        "wobbly",
        "fill-in",
        "backer",
        "booker",
        "mover",
        "maker",
        "hitter",
        "biter",
        "lifter",
        "bearer",
        "saver",
        "batter",
        "runner",
        "fixer",
        "lefty",
        "mercer",
        "barnburner",
        "piper",
        "cobbler",
        "joker",
        "killer",
        "buffer",
        "puke",
        "patronne",
        "don't-know",
        "also-ran",
        "no-show",
        "show-off",
        "has-been",
        "goner",
        "comer",
        "caller",
        "redact",
        "signore",
        "deb",
        "look-alike",
        "stand-in",
        "walk-on",
        "pin-up",
        "co-star",
        "phony",
        "fake",
        "harum-scarum",
        "fly-by-night",
        "half-pint",
        "pip-squeak",
        "goof-off",
        "shut-in",
        "stick-in-the-mud",
        "lightweight",
        "heavyweight",
        "middleweight",
        "flyweight",
        "featherweight",
        "bantamweight",
        "cruiserweight",
        "nightbird",
        "spitfire",
        "scapegoat",
        "trustee's",
        "convert",
        "tackle",
        "wingback",
        "tailback",
        "sovereign",
        "peer",
        "ass",
        "honey",
        "counsel",
        "elector",
        "cynic",
        "stoic",
        "sioux",
        "marine",
        "highlander",
        "don",
        "tory",
        "whig",
        "extra",
        "bart",
        "brule",
        "cyril",
        "simeon",
        "uriah",
        "pilate",
        "polycarp",
        "potemkin",
        "kennan",
        "townes",
        "coue",
        "quin",
        "charon",
        "circe",
        "jat",
        "maha",
        "gond",
        "moro",
        "conoy",
        "essene",
        "sauk",
        "teton",
        "zuni",
        "lulu",
        "donna",
        "dona",
        "smarta",
        "parcel",
        "ham",
        "case",
    ]
)
# Usually a person in running text, though another sense comes first.
PEOPLE = frozenset(
    [
        "agent",
        "enemy",
        "operator",
        "hero",
        "heroine",
        "host",
        "queen",
        "principal",
        "lord",
        "fighter",
        "mate",
        "fan",
        "adult",
        "publisher",
        "successor",
        "saint",
        "witch",
        "creator",
        "ally",
        "acquaintance",
        "villain",
        "crook",
        "jerk",
        "founder",
        "captive",
        "florist",
        "sage",
        "shooter",
        "fireman",
        "entrant",
        "savior",
        "runaway",
        "vagabond",
        "rigger",
        "commuter",
        "constituent",
        "escort",
        "forerunner",
        "cleaner",
        "trainer",
        "driver",
        "fundraiser",
        "moderator",
        "organiser",
        "peacekeeper",
        "peacemaker",
        "publisher",
        "rapper",
        "reformer",
        "raider",
        "poacher",
        "smoker",
        "nonsmoker",
        "swimmer",
        "successor",
        "tester",
        "usher",
        "underwriter",
        "walker",
        "weaver",
        "welder",
        "goalkeeper",
        "herder",
        "emperor",
        "exorcist",
        "barber",
        "archer",
        "angler",
        "builder",
        "climber",
        "broadcaster",
        "bowler",
        "bomber",
        "diver",
        "eater",
        "fireman",
        "forester",
        "harvester",
        "ironmonger",
        "loafer",
        "manufacturer",
        "migrator",
        "miller",
        "predator",
        "sharpshooter",
        "shipbuilder",
        "songster",
        "stripper",
        "stroller",
        "superman",
        "tanner",
        "timekeeper",
        "tobacconist",
        "trickster",
        "sender",
        "spender",
        "sitter",
        "searcher",
        "snorter",
        "strangler",
        "homeless",
        "norman",
        "idol",
        "monster",
        "fighter",
        "mate",
        "lifesaver",
        "countertenor",
        "tenor",
        "adjutant",
        "chevalier",
        "charioteer",
        "grenadier",
        "privateer",
        "abductor",
        "liberator",
        "sawyer",
        "gal",
        "chick",
        "fairy",
        "novitiate",
        "receptionist",
        "speaker",
        "guest",
        "client",
        "guard",
        "cook",
        "runner-up",
        "patient",
        "native",
        "elder",
        "minor",
        "professional",
        "individual",
        "manufacturer",
        "publisher",
        "retailer",
        "supplier",
        "accused",
    ]
)
TITLES = frozenset(
    [
        "Sir",
        "Saint",
        "President",
        "Baron",
        "Dame",
        "Prince",
        "First",
        "Pope",
        "King",
        "Lord",
        "Earl",
        "Duke",
        "Count",
        "Captain",
        "Father",
        "Mother",
    ]
)


def read(folder: Path) -> tuple[dict[str, list[str]], dict[str, list[str]], dict[str, list[str]], set[str]]:
    """Words, hypernyms and classes (of instances) of each noun synset, and the synsets that WordNet calls offensive."""
    words, above, classes, offensive = {}, {}, {}, set()
    for line in (folder / "data.noun").read_text().splitlines():
        if line.startswith("  "):
            continue
        entry, _, gloss = line.partition(" | ")
        fields = entry.split()
        end = 4 + 2 * int(fields[3], 16)
        words[fields[0]] = fields[4:end:2]
        pointers = [fields[end + 1 + 4 * n : end + 5 + 4 * n] for n in range(int(fields[end]))]
        above[fields[0]] = [target for sign, target, *_ in pointers if sign == "@"]
        classes[fields[0]] = [target for sign, target, *_ in pointers if sign == "@i"]
        if re.search(
            "slur|offensive (?:term|name|word)|derogatory|disparaging (?:term|name)|obscene|vulgar|term of contempt",
            gloss,
        ):
            offensive.add(fields[0])
    return words, above, classes, offensive


def below(root: str, above: dict[str, list[str]]) -> set[str]:
    """All synsets below one."""
    children = defaultdict(list)
    for synset, parents in above.items():
        for parent in parents:
            children[parent].append(synset)
    found, waiting = set(), [root]
    while waiting:
        synset = waiting.pop()
        if synset not in found:
            found.add(synset)
            waiting += children[synset]
    return found


def index(path: Path) -> set[str]:
    """The words of one index file."""
    return {line.split()[0] for line in path.read_text().splitlines() if not line.startswith("  ")}


def main() -> None:
    """Print the list."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "/usr/share/wordnet")
    words, above, classes, offensive = read(folder)
    people, places = below(PERSON, above), below(LOCATION, above)
    female, male = below(FEMALE, above), below(MALE, above)
    written = {word.lower(): word for synset in sorted(people, reverse=True) for word in words[synset]}
    counts: Counter[tuple[str, int]] = Counter()
    for line in (folder / "cntlist.rev").read_text().splitlines():
        key, sense, count = line.split()
        word, _, kind = key.partition("%")
        if kind.startswith("1:"):
            counts[word, int(sense)] = int(count)
    lists: dict[str, set[str]] = {name: set() for name in ("people", "masculine", "feminine", "possible")}
    for line in (folder / "index.noun").read_text().splitlines():
        if line.startswith("  "):
            continue
        fields = line.split()
        word, synsets = fields[0], fields[6 + int(fields[3]) :]
        ranks = [rank for rank, synset in enumerate(synsets) if synset in people]
        if not ranks or "_" in word or "." in word or len(word) < 3 or word in THINGS:
            continue
        if any(synsets[rank] in offensive for rank in ranks):
            continue
        total = sum(counts[word, rank + 1] for rank in range(len(synsets)))
        human = sum(counts[word, rank + 1] for rank in ranks)
        share = (human + 0.5 * len(ranks) / len(synsets)) / (total + 0.5)
        if word in PEOPLE or (ranks[0] == 0 and share >= 0.7):
            senses = {synsets[rank] for rank in ranks}
            name = "feminine" if senses <= female else "masculine" if senses <= male else "people"
            lists[name].add(written[word])
        elif ranks[0] <= 3 and share >= 0.05 and written[word].islower():
            lists["possible"].add(written[word])
    given: Counter[str] = Counter()
    towns = set()
    for synset, kinds in classes.items():
        for word in words[synset]:
            parts = [part for part in word.split("_") if re.fullmatch("[A-Z][a-z]{2,}", part)]
            if any(kind in people for kind in kinds) and len(parts) >= 2:
                given[parts[0]] += 1
            elif any(kind in places for kind in kinds) and parts == [word]:
                towns.add(word)
    common = {word for name in ("adj", "adv", "verb") for word in index(folder / f"index.{name}")} | {
        "the",
        "von",
        "van",
    }
    common |= {word for entries in words.values() for word in entries}
    lists["given"] = {
        name
        for name in given
        if name not in towns and (name.lower() not in common or given[name] >= 8) and name not in TITLES
    }
    lists["places"] = {town for town in towns if given[town] < 3}
    own = tomllib.loads((OWN / "people.toml").read_text(encoding="utf-8"))["nouns"]["people"].split()
    nouns = {word.lower() for name in ("people", "masculine", "feminine") for word in lists[name]} | set(own)
    lists["other"] = nouns & {word for name in ("adj", "verb", "adv") for word in index(folder / f"index.{name}")}
    print(HEADER, end="")
    for name, entries in lists.items():
        print(f"[{name}]")
        print("\n".join(textwrap.wrap(" ".join(sorted(entries)), 119, break_on_hyphens=False, break_long_words=False)))


if __name__ == "__main__":
    main()
