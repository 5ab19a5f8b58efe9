"""MT-GenEval: sizes and figures of the release under the paper's rules, references and fakes under `best`."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path

import pytest

import gendermark
from gendermark import registry
from gendermark.benchmarks.benchmark import ItemSet
from gendermark.benchmarks.mt_geneval import items as mt_geneval
from gendermark.benchmarks.mt_geneval import measures
from gendermark.benchmarks.mt_geneval.items import LANGUAGES, profession_class
from gendermark.benchmarks.mt_geneval.judge import CONTEXTUAL
from gendermark.cli.app import _exit_code
from gendermark.errors import BadFile, UnknownName
from gendermark.metrics import quality
from gendermark.metrics.metric import Resampling
from gendermark.reading import words
from gendermark.reading.contrast import contrast, without_tags
from gendermark.reading.gendered import GenderedWords
from gendermark.reading.words import word_spans
from gendermark.records import Gender, Item, Translation
from gendermark.runs import score as scoring
from slow import mostly_slow

PAIRS, CONTEXTS = "mt-geneval-counterfactual", "mt-geneval-contextual"
FEW = Resampling(100)


@pytest.fixture
def without_quality(monkeypatch: pytest.MonkeyPatch) -> None:
    """BLEU and chrF, which verdicts do not need, take most of the time; tests/metrics/test_quality.py has them."""
    monkeypatch.setattr(measures, "scored_pairs", lambda _: [])
    blank = {
        "bleu_statistics": quality.BLEU_COLUMNS,
        "chrf_statistics": quality.CHRF_COLUMNS,
        "edit_statistics": ("edits", "words"),
    }
    for name, columns in blank.items():
        row = dict.fromkeys(columns, 0.0)
        monkeypatch.setattr(quality, name, lambda hypotheses, _, row=row: [row] * len(hypotheses))


_files, _cut = cache(mt_geneval.official_files), lru_cache(maxsize=10_000)(words.cut)


@pytest.fixture
def release(mirror: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The official data, found and cut into words once and not for each test."""
    monkeypatch.setattr(mt_geneval, "official_files", _files)
    monkeypatch.setattr("gendermark.languages.language.cut", _cut)
    return mirror


@cache
def _official(benchmark: str, language: str, split: str = "test") -> ItemSet:
    """Only for tests with the fixture `release`."""
    return gendermark.items(benchmark, language, split=split)


@cache
def _sample(benchmark: str, language: str) -> ItemSet:
    """A third of the groups: judging all of them in every language takes minutes."""
    item_set = _official(benchmark, language)
    kept = set(sorted({item.group_id for item in item_set.items})[::3])
    return replace(item_set, items=tuple(item for item in item_set.items if item.group_id in kept))


def _as_paper(item_set: ItemSet) -> ItemSet:
    """The same items for the paper's rules, without reading them again."""
    items = tuple(replace(item, tags={**item.tags, "rules": "paper"}) for item in item_set.items)
    return replace(item_set, selection=replace(item_set.selection, rules="paper"), items=items)


def _gold(item: Item) -> str:
    return without_tags(item.tags["reference"])


def _contrastive(item: Item) -> str:
    return without_tags(item.tags["contrastive"])


def _masculine(item: Item) -> str:
    return _gold(item) if item.expected is Gender.MASCULINE else _contrastive(item)


def _nothing(item: Item) -> str:
    return ""


def _source(item: Item) -> str:
    return item.source


def _score(item_set: ItemSet, texts: Sequence[str]) -> gendermark.Result:
    benchmark = registry.load("benchmark", item_set.selection.benchmark)
    requests = benchmark.requests(item_set)
    answers = [[Translation(request.request_id, text)] for request, text in zip(requests, texts, strict=True)]
    return scoring.score(benchmark, item_set, answers, scoring.Origin("files", resampling=FEW))


def _accuracy(item_set: ItemSet, say: Callable[[Item], str]) -> float | None:
    return _score(item_set, [say(item) for item in item_set.items]).estimate("accuracy").value


def _values(result: gendermark.Result) -> dict[str, float | None]:
    return {f"{estimate.metric}:{estimate.slice}": estimate.value for estimate in result.estimates}


Outcomes = list[tuple[str, tuple[str, ...]]]


def _outcomes(result: gendermark.Result) -> Outcomes:
    return [(judgement.outcome, judgement.evidence) for judgement in result.judgements]


@cache
def _best(benchmark: str, language: str, say: Callable[[Item], str]) -> tuple[dict[str, float | None], Outcomes]:
    """What `best` makes of official translations; only for tests with `release` and `without_quality`."""
    item_set = _sample(benchmark, language)
    result = _score(item_set, [say(item) for item in item_set.items])
    return _values(result), _outcomes(result)


# -- the release --------------------------------------------------------------------------------------------------

# Sentences with context: test, dev. The paper says 1,100 and 8 languages.
CONTEXT_SIZES = {
    "ar": (1100, 792),
    "de": (1100, 598),
    "es": (1096, 534),
    "fr": (1099, 477),
    "hi": (1098, 397),
    "it": (1094, 465),
    "nl": (1078, 480),
    "pt": (1089, 574),
    "ru": (1100, 583),
}


@pytest.mark.parametrize("language", mostly_slow(CONTEXT_SIZES, lambda code: code in ("es", "hi")))
def test_sizes(release: Path, language: str) -> None:
    n_test, n_dev = CONTEXT_SIZES[language]
    assert len(_official(CONTEXTS, language).items) == n_test
    assert len(_official(CONTEXTS, language, "dev").items) == n_dev
    if language == "nl":
        return
    items = _official(PAIRS, language).items
    assert Counter(item.expected for item in items) == {Gender.MASCULINE: 300, Gender.FEMININE: 300}
    assert len({item.group_id for item in items}) == 300
    assert len(_official(PAIRS, language, "dev").items) == 2400


def test_gender_of_the_person_is_derived_from_the_context(release: Path) -> None:
    """Counts of our own (the release has no labels), pinned so that a change of the word lists is seen."""
    items = _official(CONTEXTS, "es").items
    assert Counter(item.tags["gender_provenance"] for item in items) == {"context-words": 1047, "tie": 19, "none": 30}
    assert Counter(item.expected for item in items) == {Gender.MASCULINE: 537, Gender.FEMININE: 510, None: 49}
    assert all((item.expected is None) == (item.tags["gender_provenance"] in ("tie", "none")) for item in items)
    classes = Counter(item.tags["class"] for item in items)
    assert set(classes) == {"female", "male", "neutral", "unknown"}
    # Students and cooks are no professions of the list.
    assert classes["unknown"] < 0.2 * len(items)


def test_rules_change_no_item(release: Path) -> None:
    for benchmark in (PAIRS, CONTEXTS):
        assert gendermark.items(benchmark, "es", rules="paper") == _as_paper(_official(benchmark, "es"))


# -- rules `paper` ------------------------------------------------------------------------------------------------

# The released script on contrastive references; on always masculine; on contrastive references of the contextual set.
CONTRASTIVE = dict(zip(LANGUAGES, (0, 0, 4.67, 0, 11.33, 6.67, 0, 0), strict=True))
ALWAYS_MASCULINE = dict(zip(LANGUAGES, (0, 0, 4.67, 0, 12.33, 7.33, 0, 0), strict=True))
CONTRASTIVE_CONTEXT = dict(zip(LANGUAGES, (0.27, 0.73, 4.01, 2.18, 4.83, 3.75, 3.12, 0.09), strict=True))
COPIED = dict(zip(LANGUAGES, (99.91, 94.09, 93.61, 94.27, 100, 99.54, 87.51, 100), strict=True))


@pytest.mark.parametrize("language", mostly_slow(LANGUAGES, lambda code: code in ("es", "hi")))
def test_paper_counterfactual(release: Path, without_quality: None, language: str) -> None:
    item_set = _as_paper(_official(PAIRS, language))
    assert _accuracy(item_set, _gold) == 100
    assert _accuracy(item_set, _nothing) == 100
    assert _accuracy(item_set, _contrastive) == pytest.approx(CONTRASTIVE[language], abs=0.005)
    assert _accuracy(item_set, _masculine) == pytest.approx(ALWAYS_MASCULINE[language], abs=0.005)


@pytest.mark.parametrize("language", mostly_slow(LANGUAGES, lambda code: code in ("es", "hi")))
def test_paper_contextual(release: Path, language: str) -> None:
    item_set = _as_paper(_official(CONTEXTS, language))
    assert _accuracy(item_set, _gold) == 100
    assert _accuracy(item_set, _nothing) == 100
    assert _accuracy(item_set, _contrastive) == pytest.approx(CONTRASTIVE_CONTEXT[language], abs=0.005)
    copied = _accuracy(item_set, _source)
    assert copied == pytest.approx(COPIED[language], abs=0.005)
    assert copied is not None
    assert 87.5 <= copied <= 100


@pytest.mark.slow
@pytest.mark.parametrize(("language", "pairs", "contexts"), [("es", 11.17, 2.62), ("hi", 15.67, 3.53)])
def test_paper_dev(release: Path, without_quality: None, language: str, pairs: float, contexts: float) -> None:
    for benchmark, figure in ((PAIRS, pairs), (CONTEXTS, contexts)):
        item_set = _as_paper(_official(benchmark, language, "dev"))
        assert _accuracy(item_set, _gold) == 100
        assert _accuracy(item_set, _contrastive) == pytest.approx(figure, abs=0.005)


def test_dutch_is_judged_though_the_script_refuses_it(release: Path) -> None:
    item_set = _as_paper(_official(CONTEXTS, "nl"))
    assert _accuracy(item_set, _gold) == 100
    assert (_accuracy(item_set, _contrastive) or 0) < 1
    with pytest.raises(UnknownName, match="'nl'"):
        gendermark.items(PAIRS, "nl")
    with pytest.raises(UnknownName, match="'nl'"):
        gendermark.items(CONTEXTS, "nl", data="core")


# -- rules `best` -------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("benchmark", "language"),
    [*((PAIRS, language) for language in LANGUAGES), *((CONTEXTS, language) for language in (*LANGUAGES, "nl"))],
)
def test_best_on_references(release: Path, without_quality: None, benchmark: str, language: str) -> None:
    parts = ("all", "members", "masculine", "feminine") if benchmark == PAIRS else ("all", "masculine", "feminine")
    gold, contrastive = (_best(benchmark, language, say)[0] for say in (_gold, _contrastive))
    # Silence is the same in every language.
    silent = [_nothing] if language == "es" else []
    without_translation = [_best(benchmark, language, say)[0] for say in (_source, *silent)]
    for part in parts:
        assert (gold[f"decided_accuracy:{part}"] or 0) >= 99.5
        # A noun for men and women ("presidente", of "presidentessa") shows nothing, though one reference alone has it.
        assert (gold[f"coverage:{part}"] or 0) >= {"it": 94, "nl": 96}.get(language, 98)
        assert contrastive[f"accuracy:{part}"] == 0
        assert contrastive[f"decided_accuracy:{part}"] is not None
        assert (contrastive[f"decided_accuracy:{part}"] or 0) <= 0.5
        for broken in without_translation:
            assert (broken[f"coverage:{part}"] or 0) < 1
            assert broken[f"accuracy:{part}"] == 0
            assert broken[f"decided_accuracy:{part}"] is None


@pytest.mark.parametrize("language", mostly_slow(LANGUAGES, lambda code: code == "es"))
def test_other_words_where_references_agree_change_few_verdicts(
    release: Path, without_quality: None, language: str
) -> None:
    """Synonyms: every second word that both references share and that decides nothing is written in other letters.

    Words of grammar stay: whose word a word is ("her director", "was elected") is told by them. A few nouns are needed
    to see whose an adjective is.
    """
    item_set = _sample(PAIRS, language)
    judge, lists = registry.load("language", language), GenderedWords(registry.load("language", language))
    grammar = {*lists.articles, *lists.possessives, *lists.copulas, *lists.adverbs, *lists.introducing, *lists.fixed}
    grammar |= {*lists.habit, *lists.common, *lists.told, *judge.singular, *judge.plural, *judge.transparent}
    before, texts, n_replaced = [], [], 0
    for place, item in enumerate(item_set.items):
        # Right and wrong translations by turns.
        say = _gold if item.index % 2 else _contrastive
        before.append(_best(PAIRS, language, say)[1][place][0])
        shared = set(judge.cut(_gold(item))) & set(judge.cut(_contrastive(item)))
        found = contrast(item.tags["reference"], item.tags["contrastive"], judge)
        shared -= {word for unit in (*found.right, *found.wrong) for word in unit} | grammar
        text = say(item)
        words = judge.cut(text)
        n_replaced += sum(word in shared for word in words[::2])
        # Capitals stay: they tell names, and German nouns.
        written = [text[start:end] for start, end in word_spans(text)]
        pairs = enumerate(zip(written, words, strict=True))
        texts.append(" ".join("qqqqq" if word in shared and not n % 2 else as_is for n, (as_is, word) in pairs))
    after = [outcome for outcome, _ in _outcomes(_score(item_set, texts))]
    assert sum(one != other for one, other in zip(before, after, strict=True)) <= 0.02 * len(after)
    assert n_replaced > 600


def test_what_the_paper_calls_wrong_and_why(release: Path, without_quality: None) -> None:
    """Gold translations and a further sentence with articles of both genders: the paper's rule turns, ours does not."""
    item_set = _sample(PAIRS, "es")
    texts = [f"{_gold(item)} Ahí está la casa; ahí está el pueblo." for item in item_set.items]
    best, paper = _score(item_set, texts), _score(_as_paper(item_set), texts)
    assert (best.estimate("decided_accuracy").value or 0) >= 99.5
    assert (best.estimate("coverage").value or 0) >= 98
    assert (paper.estimate("accuracy").value or 0) < 85


# -- files of translations ----------------------------------------------------------------------------------------


def _write(path: Path, lines: Sequence[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def _json(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> dict[str, object]:
    assert _exit_code([str(argument) for argument in arguments]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def test_two_files_equal_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    items = gendermark.items(PAIRS, "es", data="core").items
    texts = [*(_masculine(item) for item in items[:-1]), _gold(items[-1])]
    half = len(texts) // 2
    one = _write(tmp_path / "one.txt", texts)
    men, women = _write(tmp_path / "men.txt", texts[:half]), _write(tmp_path / "women.txt", texts[half:])
    common = ("score", PAIRS, "--to", "es", "--data", "core", "--resamples", "100", "--json")
    together = _json(capsys, *common, "--translations", one)
    apart = _json(capsys, *common, "--translations", men, "--translations", women)

    def estimates(found: dict[str, object]) -> object:
        return [{k: v for k, v in row.items() if k != "signature"} for row in found["estimates"]]  # type: ignore[attr-defined]

    assert estimates(together) == estimates(apart)
    assert _exit_code(["score", CONTEXTS, "--to", "es", "--translations", str(men), "--translations", str(women)]) == 2
    assert "--translations once" in capsys.readouterr().err


@pytest.mark.parametrize(("benchmark", "language"), [(PAIRS, "ar"), (CONTEXTS, "es")])
def test_shifted_file_is_refused(tmp_path: Path, benchmark: str, language: str) -> None:
    lines = [_gold(item) for item in gendermark.items(benchmark, language, data="core").items]
    cases = {
        "first missing": ([*lines[1:], "Adiós."], 1),
        "first doubled": ([lines[0], *lines[:-1]], 2),
        "from the middle": ([*lines[:20], *lines[21:], "Adiós."], 21),
    }
    for name, (shifted, first) in cases.items():
        path = _write(tmp_path / "shifted.txt", shifted)
        with pytest.raises(BadFile, match=r"shifted\.txt, line \d+: .*one is missing or doubled") as caught:
            gendermark.score(benchmark, path, language, data="core")
        assert caught.value.line is not None, name
        assert abs(caught.value.line - first) <= 1, name
    gendermark.score(benchmark, _write(tmp_path / "right.txt", lines), language, data="core", resampling=FEW)


# -- the bundled sets ---------------------------------------------------------------------------------------------

SPAN = re.compile(r"<([FM])>.*?</\1>")


@pytest.mark.parametrize("language", LANGUAGES)
def test_core_pairs(language: str) -> None:
    items = gendermark.items(PAIRS, language, data="core").items
    assert Counter(item.expected for item in items) == {
        Gender.MASCULINE: len(items) // 2,
        Gender.FEMININE: len(items) // 2,
    }
    assert len({item.group_id for item in items}) == len(items) // 2 >= 40
    assert len({item.source for item in items}) == len(items)
    for item in items:
        own, other = item.tags["reference"], item.tags["contrastive"]
        assert item.tags["decidable"] == "yes", own
        assert SPAN.sub("_", own) == SPAN.sub("_", other), own
        letter = "M" if item.expected is Gender.MASCULINE else "F"
        assert {match.group(1) for match in SPAN.finditer(own)} == {letter}, own
        assert not re.search(r"</?[FM]>", SPAN.sub("", own)), own


@pytest.mark.parametrize("language", LANGUAGES)
def test_core_contexts(language: str) -> None:
    items = gendermark.items(CONTEXTS, language, data="core").items
    assert len({item.source for item in items}) == len(items) >= 40
    counts = Counter((item.expected, item.tags["class"]) for item in items)
    assert set(counts) == {(g, c) for g in (Gender.MASCULINE, Gender.FEMININE) for c in ("female", "male", "neutral")}
    for kind in ("female", "male", "neutral"):
        assert counts[Gender.MASCULINE, kind] == counts[Gender.FEMININE, kind]
    for item in items:
        own, other = item.tags["reference"], item.tags["contrastive"]
        assert item.tags["decidable"] == "yes", own
        assert SPAN.sub("_", own) == SPAN.sub("_", other), own
        assert item.tags["context"], item.source
        # The sentence itself keeps the gender open.
        assert not re.search(r"\b(he|she|his|hers?|him|himself|herself|man|woman)\b", item.source, re.I), item.source


STRATEGIES = ("none", "joined", "separator:@@", "prompt")


# -- context ------------------------------------------------------------------------------------------------------


def test_requests_show_the_context_as_asked() -> None:
    for strategy in STRATEGIES:
        item_set = gendermark.items(CONTEXTS, "es", data="core", context=strategy)
        for item, request in zip(item_set.items, CONTEXTUAL.requests(item_set), strict=True):
            assert item.source in request.source
            assert (item.tags["context"] in request.source) == (strategy != "none")
            assert ("@@" in request.source) == (strategy == "separator:@@")


def test_lost_separator_is_an_extraction_failure() -> None:
    options = {"data": "core", "context": "separator:@@"}
    items = gendermark.items(CONTEXTS, "es", **options).items
    kept = [f"{_contrastive(item)} @@ {_gold(item)}" for item in items]  # words of the context decide nothing
    lost = [f"Eso fue antes. {_gold(item)}" for item in items]
    result = gendermark.score(CONTEXTS, [*lost[:12], *kept[12:]], "es", resampling=FEW, **options)
    assert result.estimate("extraction").value == pytest.approx(100 * 12 / len(items))
    assert result.estimate("failed").value == result.estimate("extraction").value
    assert result.estimate("accuracy").value == pytest.approx(100 * (1 - 12 / len(items)))
    assert result.estimate("decided_accuracy").value == 100
    assert [row for row in result.table("outcomes").rows if row[1] == "extraction"] == [("failed", "extraction", 12)]
    assert "context:separator:@@" in result.signature


def test_joined_answer_that_cannot_be_cut_is_judged_by_the_words_that_differ() -> None:
    """Context and sentence run into one; a pronoun in it may be the context's, and decides nothing."""
    options = {"data": "core", "context": "joined"}
    items = gendermark.items(CONTEXTS, "es", **options).items
    first = items[0]
    assert first.expected is Gender.MASCULINE
    answers = {_gold: ("correct", ""), _contrastive: ("wrong", ""), _nothing: ("failed", "extraction")}
    for say, expected in answers.items():
        run_in = "él llegó y ella se fue y luego " + say(first).rstrip(".").replace(",", "").replace(":", "")
        texts = [f"{item.tags['context']} {_gold(item)}" for item in items]
        result = gendermark.score(CONTEXTS, [run_in, *texts[1:]], "es", resampling=FEW, **options)
        judgement = result.judgements[0]
        assert (judgement.outcome, judgement.reason) == expected, run_in
        assert [run_in[start:end].lower() for start, end in judgement.spans] == list(judgement.evidence)


@pytest.mark.parametrize(
    ("sentence", "label"),
    [
        ("The nurse was soon promoted.", "female"),
        ("Two NURSES met the engineer.", "female"),  # the first one named
        ("It rained all day.", "unknown"),
    ],
)
def test_profession_class(sentence: str, label: str) -> None:
    assert profession_class(sentence) == label


# -- outcomes -----------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("without_quality")
def test_outcomes_of_one_sentence() -> None:
    item_set = gendermark.items(PAIRS, "es", data="core")
    gold = [_gold(item) for item in item_set.items]
    first = item_set.items[0]
    answers = {
        _gold(first): ("correct", ""),
        _contrastive(first): ("wrong", ""),
        f"{_gold(first)} {_contrastive(first)}": ("mixed", "mixed"),
        " ".join(gold[5].split()[:2]): ("failed", "truncated"),
        first.source: ("failed", "copied"),
        "": ("failed", "empty"),
        "Die Katze schläft heute wieder auf dem warmen Dach, sagte jemand gestern beiläufig": (
            "failed",
            "wrong-language",
        ),
        "Fue entonces cuando todo el mundo vio lo que pasaba en la calle y nadie dijo nada": ("undecided", "undecided"),
    }
    for text, expected in answers.items():
        judgement = _score(item_set, [text, *gold[1:]]).judgements[0]
        assert (judgement.outcome, judgement.reason) == expected, text
    # References are for the judge alone.
    assert not {"reference", "contrastive"} & set(judgement.tags)
