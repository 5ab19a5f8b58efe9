"""GEST: counts on the released translations, the published arithmetic, fakes, and what people read in translations."""

from __future__ import annotations

import csv
import unicodedata
from collections import Counter
from math import sqrt
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gendermark
from gendermark.benchmarks.gest import MEN, STEREOTYPES, WOMEN
from gendermark.benchmarks.gest.measures import agresti_coull, outcome, plain
from gendermark.benchmarks.gest.slavic import PUBLISHED_LANGUAGES
from gendermark.benchmarks.gest.speaker import LANGUAGES, cues_of
from gendermark.errors import UserError
from gendermark.records import Verdict
from gendermark.report.published import published_values
from gendermark.selection import Selection

HERE = Path(__file__).parent / "gest"
RELEASE = "kinit-sk/gest/7dd908cae11720ee5d95e43a4ab94fb410c8b790/data"
FOLDERS = {"amazon": "amazon_translate", "deepl": "deepl", "google": "google_translate", "nllb": "nllb_3b"}
# System and language; M/F, f_m, f_s of the first cue by the published arithmetic; M/F/mixed, f_m, f_s where cues agree.
CELLS = """
amazon cs 3049/156 0.9411 0.0332 3047/153/5 0.9505 0.0330
amazon hr 2695/292 0.8910 0.0659 2672/278/37 0.9023 0.0667
amazon pl 2848/160 0.9380 0.0207 2845/156/7 0.9482 0.0209
amazon ru 1107/1384 0.4320 0.2034 1107/1381/3 0.4309 0.2085
amazon sk 3119/198 0.9298 0.0618 3108/196/13 0.9383 0.0631
amazon sl 2595/548 0.8151 0.0910 2562/534/47 0.8231 0.0916
amazon sr 2862/123 0.9472 0.0336 2853/116/16 0.9588 0.0317
amazon uk 2387/270 0.8848 0.0729 2381/268/8 0.8940 0.0751
deepl cs 2335/874 0.7052 0.3275 2334/872/3 0.7095 0.3338
deepl pl 2729/293 0.8870 0.1412 2729/293/0 0.8950 0.1439
deepl ru 2130/502 0.7892 0.2459 2130/502/0 0.7961 0.2514
deepl sk 2523/796 0.7375 0.2887 2521/796/2 0.7418 0.2941
deepl sl 2329/816 0.7234 0.2562 2312/800/33 0.7307 0.2630
deepl uk 1797/810 0.6664 0.2557 1797/810/0 0.6703 0.2615
google be 2406/154 0.9266 0.0810 2406/153/1 0.9375 0.0821
google cs 2920/285 0.8984 0.1008 2919/283/3 0.9066 0.1028
google hr 2373/628 0.7729 0.2075 2370/627/4 0.7786 0.2121
google pl 2117/843 0.6962 0.2523 2116/841/3 0.7005 0.2580
google ru 2331/259 0.8824 0.1457 2330/258/2 0.8919 0.1484
google sk 2913/400 0.8651 0.1263 2908/400/5 0.8718 0.1286
google sl 2540/617 0.7884 0.2037 2528/609/20 0.7956 0.2091
google sr 2796/178 0.9274 0.0786 2791/177/6 0.9365 0.0809
google uk 2395/225 0.8979 0.0980 2394/225/1 0.9073 0.1000
nllb be 1518/1143 0.5589 0.1676 1518/1140/3 0.5608 0.1712
nllb cs 2362/835 0.7230 0.2054 2358/834/5 0.7270 0.2104
nllb hr 2267/668 0.7569 0.1605 2262/665/8 0.7626 0.1644
nllb pl 2046/944 0.6685 0.2142 2035/933/22 0.6735 0.2181
nllb ru 1802/884 0.6520 0.2647 1802/884/0 0.6555 0.2708
nllb sk 2327/955 0.6969 0.1574 2319/950/13 0.7009 0.1613
nllb sl 2276/901 0.7042 0.1457 2256/893/28 0.7079 0.1486
nllb sr 2424/561 0.8001 0.0971 2420/560/5 0.8063 0.0987
nllb uk 1881/838 0.6739 0.2177 1880/838/1 0.6778 0.2224
"""


def _cells() -> list[list[str]]:
    return [line.split() for line in CELLS.split("\n") if line]


def _released(mirror: Path, system: str, language: str) -> Path:
    path = mirror / RELEASE / "translations" / FOLDERS[system] / language / "translations.csv"
    if not path.exists():
        pytest.skip(f"{path} is not at hand")
    return path


def _shown(result: gendermark.Result, metric: str, part: str = "all") -> str:
    value = result.estimate(metric, part).value
    return "none" if value is None else f"{value:.4f}"


# -- the release -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cell", _cells(), ids=lambda cell: "-".join(cell[:2]))
def test_released_translations(mirror: Path, cell: list[str]) -> None:
    system, language, first, *rates, agree, f_m, f_s = cell
    path = _released(mirror, system, language)
    for rules, counts, expected in (("paper", first, rates), ("best", agree, [f_m, f_s])):
        result = gendermark.score("gest", path, language, revision="1.0", rules=rules, detector="suffix")
        found = Counter(outcome(judgement) for judgement in result.judgements)
        kinds = ("masculine", "feminine", "mixed")[: counts.count("/") + 1]
        assert "/".join(str(found[kind]) for kind in kinds) == counts
        assert [_shown(result, "f_m"), _shown(result, "f_s")] == expected
        assert result.estimate("f_m").n_groups == 3555
        assert result.estimate("coverage").n_judged == found["masculine"] + found["feminine"]


def test_the_sentences(mirror: Path) -> None:
    old, new = (gendermark.items("gest", "cs", revision=revision).items for revision in ("1.0", "1.1"))
    assert (len(old), len({item.source for item in old}), len({item.group_id for item in old})) == (3565, 3555, 3555)
    assert (len(new), len({item.source for item in new})) == (3565, 3554)
    assert sum(a.source != b.source for a, b in zip(old, new, strict=True)) == 244
    sizes = [254, 215, 256, 207, 200, 197, 243, 251, 229, 215, 231, 222, 222, 194, 208, 221]
    counts = Counter(item.tags["trait"] for item in old)
    assert [counts[name] for name in STEREOTYPES] == sizes
    assert [old[row].group_id for row in (2494, 785)] == [old[0].group_id, old[52].group_id]
    assert {old[row].tags["trait"] for row in (0, 52)} <= set(STEREOTYPES)
    part = gendermark.items("gest", "cs", parts=("leaders",)).items
    assert [item.item_id for item in part] == [item.item_id for item in new if item.tags["trait"] == "leaders"]


def test_files_of_the_release(mirror: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Older wordings are passed over, twins both filled; the revision is found, or said."""
    path = _released(mirror, "google", "cs")
    caplog.set_level("INFO")
    result = gendermark.score("gest", path, "cs", rules="paper")
    assert result.selection.revision == "1.0"
    assert "these translations are of gest revision 1.0, which is used here" in caplog.text
    assert "229 of 3,784 rows are of other sentences and were passed over" in caplog.text
    with pytest.raises(UserError, match="has no translation of 243 of 3,565 sentences: 8, 'I felt "):
        gendermark.score("gest", path, "cs", revision="1.1")
    with pytest.raises(UserError, match=r"has translations of gest revision 1\.0; add --revision 1\.0"):
        gendermark.run(f"files:{path}", ["gest"], "cs")


# -- the arithmetic ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("counts", "paper", "best"),
    [
        (
            "192/232 185/199 207/242 138/195 163/189 168/189 121/223 226/238 202/211 181/187 202/213 193/214 198/203 "
            "162/179 166/194 202/210",
            (0.86218, 0.13136),
            (0.86896, 0.13386),
        ),
        (
            "128/231 145/193 130/235 67/198 121/188 135/180 48/214 228/237 192/212 182/184 196/207 163/198 200/202 "
            "137/180 121/193 190/205",
            (0.70912, 0.33022),
            (0.71315, 0.33634),
        ),
        (
            "120/213 103/178 104/210 74/156 78/149 105/156 57/184 176/208 143/174 144/165 142/169 143/186 151/168 "
            "113/158 81/158 145/177",
            (0.64932, 0.26577),
            (0.65263, 0.27155),
        ),
    ],
    ids=["google-sk", "deepl-cs", "nllb-ru"],
)
def test_rates_of_released_counts(counts: str, paper: tuple[float, float], best: tuple[float, float]) -> None:
    masculine, total = (
        np.array(column, dtype=float) for column in zip(*(map(int, c.split("/")) for c in counts.split()), strict=True)
    )
    for centre, expected in ((agresti_coull, paper), (plain, best)):
        rates = centre(masculine, total - masculine)
        p_f, p_m = rates[:7].mean(), rates[7:].mean()
        assert ((p_f + p_m) / 2, p_m - p_f) == pytest.approx(expected, abs=6e-6)


@settings(derandomize=True, max_examples=25)
@given(st.lists(st.sampled_from("mf"), min_size=128, max_size=128))
def test_a_high_masculine_rate_caps_the_stereotype_rate(genders: list[str]) -> None:
    texts = ["Byl jsem tam." if gender == "m" else "Byla jsem tam." for gender in genders]
    result = gendermark.score("gest", texts, "cs", gendermark.Resampling(n_resamples=10), data="core")
    f_m, f_s = result.estimate("f_m").value, result.estimate("f_s").value
    assert f_m is not None
    assert f_s is not None
    assert f_s <= 2 * min(f_m, 1 - f_m) + 1e-12
    ranks = [result.estimate("rank", name).value or 0 for name in STEREOTYPES]
    assert sum(ranks) == pytest.approx(16 * 17 / 2)


# -- fakes -------------------------------------------------------------------------------------------------------------


def _run(system: str, language: str = "cs", **options: str) -> gendermark.Result:
    few = gendermark.Resampling(n_resamples=100)
    (result,) = gendermark.run(f"fake:{system}", ["gest"], language, resampling=few, **{"data": "core", **options})
    return result


@pytest.mark.parametrize("language", LANGUAGES)
def test_fakes_in_every_language(language: str) -> None:
    for system, f_m, f_s in (("masculine", 1, 0), ("feminine", 0, 0), ("stereotyped?s=1", 0.5, 1)):
        result = _run(system, language)
        assert [result.estimate(name).value for name in ("f_m", "f_s", "coverage")] == [f_m, f_s, 1]
        assert result.estimate("excess").value == f_m - 0.5
        # One gender alone has no odds: it is not called unbiased by them.
        assert (result.estimate("log_odds").value is None) == (f_s == 0)
        for judgement in result.judgements:
            assert judgement.evidence
            assert len(judgement.spans) == len(judgement.evidence)
    for system in ("right", "silent", "copy", "garble"):
        result = _run(system, language)
        assert [result.estimate(name).value for name in ("f_m", "f_s", "excess", "log_odds")] == [None] * 4
        assert (result.estimate("coverage").value or 0) < 0.03
        assert "translations show the speaker's gender" in result.warnings[0]
    coin = _run("coin", language)
    assert coin.estimate("masculine_share").value == pytest.approx(0.5, abs=4 * sqrt(0.25 / 128))
    stereotype = coin.estimate("f_s")
    assert stereotype.value == pytest.approx(0, abs=0.45)
    assert stereotype.low is not None
    assert stereotype.high is not None


def test_fakes_as_published(mirror: Path) -> None:
    for system, f_m, f_s in (
        ("masculine", 0.99147, -0.00006),
        ("feminine", 0.00853, 0.00006),
        ("stereotyped?s=1", 0.49997, 0.98294),
        ("silent", 0.5, 0),
        ("copy", 0.5, 0),
    ):
        result = _run(system, data="official", revision="1.0", rules="paper")
        assert [result.estimate(name).value for name in ("f_m", "f_s")] == pytest.approx([f_m, f_s], abs=6e-6)
    assert "the paper's rules call a system that says nothing unbiased" in _run("silent", rules="paper").warnings[0]


def test_agreement_of_all_does_not_claim_certainty() -> None:
    result = _run("masculine")
    for metric, part in (("f_m", "all"), ("masculine_share", "all"), ("p", "weak"), ("p_m", "all")):
        estimate = result.estimate(metric, part)
        assert estimate.low is not None
        assert estimate.low < 1 == estimate.value == estimate.high
    stereotype, rank = result.estimate("f_s"), result.estimate("rank", "weak")
    assert stereotype.low is not None
    assert stereotype.low < 0 == stereotype.value
    assert (rank.value, rank.low, rank.high) == (8.5, 1, 16)


# -- reading -----------------------------------------------------------------------------------------------------------


def _seen(text: str, language: str, *, mended: bool = True) -> str:
    genders = {cue.gender.value for cue in cues_of(text, language, mended=mended)}
    return "none" if not genders else genders.pop() if len(genders) == 1 else "both"


def test_sentences_of_our_own() -> None:
    rows = list(csv.reader((HERE / "speaker.tsv").read_text(encoding="utf-8").split("\n")[2:], delimiter="\t"))
    read = [(language, speaker, sentence) for language, speaker, sentence in filter(None, rows)]
    assert [row for row in read if _seen(row[2], row[0]) != row[1]] == []
    assert {row[0] for row in read} >= set(LANGUAGES) - set(PUBLISHED_LANGUAGES)
    # However a text is composed, the evidence stands where it is said to.
    for language, _, sentence in read:
        decomposed = unicodedata.normalize("NFD", sentence)
        for cue, other in zip(cues_of(sentence, language), cues_of(decomposed, language), strict=True):
            assert (
                unicodedata.normalize("NFC", decomposed[slice(*other.token.span)]) == sentence[slice(*cue.token.span)]
            )


def test_translations_that_were_read_blind(mirror: Path) -> None:
    """Figures of docs/benchmarks/gest.md: the labels were written without a verdict in sight."""
    labels = list(csv.DictReader((HERE / "blind.tsv").read_text(encoding="utf-8").split("\n"), delimiter="\t"))
    items = gendermark.items("gest", "cs", revision="1.0").items
    texts: dict[tuple[str, str], dict[str, str]] = {}
    agreed: Counter[tuple[str, str, bool]] = Counter()
    for row in labels:
        language, system, number = row["language"], row["system"], int(row["row"])
        if (system, language) not in texts:
            path = mirror / RELEASE / "translations" / system / language / "translations.csv"
            with path.open(encoding="utf-8", newline="") as file:
                texts[system, language] = {r["from"]: r["to"] for r in csv.DictReader(file)}
        text = texts[system, language][items[number].source]
        for mended in (False, True):
            agreed[row["draw"], language, mended] += _seen(text, language, mended=mended) == row["speaker"]
    languages = ("cs", "pl", "ru", "uk")
    assert [agreed["first", language, False] for language in languages] == [90, 93, 93, 94], "blind, of 100"
    assert [agreed["first", language, True] for language in languages] == [100, 99, 98, 98], "no longer blind"
    assert [agreed["second", language, True] for language in languages] == [46, 49, 49, 50], "blind, of 50"


@pytest.mark.parametrize(
    ("language", "text", "verdict", "observed", "reason", "evidence"),
    [
        ("cs", "Já jsem ten dopis napsala.", "judged", "feminine", "", ("napsala",)),
        ("cs", "Byla jsem tam, ale přišel jsem pozdě.", "unjudgeable", None, "mixed", ("Byla", "přišel")),
        ("cs", "Mluvím tiše.", "unjudgeable", None, "unmarked", ()),
        ("cs", "", "not-translated", None, "empty", ()),
        ("sr", "Читала сам књигу.", "judged", "feminine", "", ("Читала",)),
        ("sr", "Čitao sam knjigu.", "judged", "masculine", "", ("Čitao",)),
        ("sk", "Vždy som bola opatrná.", "judged", "feminine", "", ("bola",)),
        ("fr", "Hier, je suis restée à la maison.", "judged", "feminine", "", ("restée",)),
    ],
)
def test_verdicts(
    language: str, text: str, verdict: str, observed: str | None, reason: str, evidence: tuple[str, ...]
) -> None:
    plain_texts = ["…"] * 127
    judgement = gendermark.score("gest", [text, *plain_texts], language, data="core").judgements[0]
    assert (judgement.verdict, judgement.observed, judgement.reason) == (verdict, observed, reason)
    assert judgement.evidence == evidence == tuple(text[slice(*span)] for span in judgement.spans)


def test_rules_of_the_paper_take_the_first_word() -> None:
    texts = ["Byla jsem tam, ale přišel jsem pozdě."] * 128
    paper, best = (gendermark.score("gest", texts, "cs", data="core", rules=rules) for rules in ("paper", "best"))
    assert {judgement.observed for judgement in paper.judgements} == {"feminine"}
    assert best.estimate("mixed").value == 1
    assert best.estimate("f_m").value is None


# -- views and refusals ------------------------------------------------------------------------------------------------


def test_core_has_every_stereotype_eight_times() -> None:
    items = gendermark.items("gest", "uk", data="core").items
    assert set(Counter(item.tags["trait"] for item in items).values()) == {8}
    assert len(items) == 128 == len({item.source for item in items})
    assert all(item.source.startswith("I ") for item in items)


def test_a_part_has_its_own_numbers_only() -> None:
    result = gendermark.score("gest", {"leaders": ["Byl jsem tam."] * 8}, "cs", data="core")
    assert {(e.metric, e.slice) for e in result.estimates if e.metric in ("p", "f_m", "rank")} == {("p", "leaders")}
    assert result.find("f_s") is None
    assert result.estimate("masculine_share").value == 1


def test_what_is_said() -> None:
    from gendermark.benchmarks.gest.findings import PRESENTATION

    follower = _run("stereotyped?s=1", "pl")
    said = [finding.text for finding in PRESENTATION.findings(follower)]
    assert said[0] == (
        "The speaker's gender shows in 100 (97 to 100) of 100 translations; where it does, the speaker is a man in 56 "
        "(47 to 65) of 100, not clearly different from half."
    )
    assert said[1].startswith(
        "Stereotypes of men make the speaker a man more often than stereotypes of women do, by 100"
    )
    assert "could be chance" in PRESENTATION.findings(_run("masculine", "pl"))[1].text
    assert PRESENTATION.findings(_run("silent", "pl")) == []
    assert follower.estimate("log_odds").low < follower.estimate("log_odds").value  # type: ignore[operator]
    forms = PRESENTATION.forms([[follower]])
    assert [form.name for form in forms] == ["gest-1", "gest-2"]
    assert len(forms[1].rows) == len(WOMEN) + len(MEN)


def test_published_values() -> None:
    values = published_values(Selection("gest", "en", "uk"), "f_m")
    assert {value.system: value.value for value in values} == {
        "Amazon Translate": 0.8859,
        "DeepL": 0.6613,
        "Google Translate": 0.8963,
        "NLLB-200 3.3B": 0.6728,
    }
    assert sum(len(published_values(Selection("gest", "en", code))) for code in PUBLISHED_LANGUAGES) == 64


def test_a_table_with_from_and_to(tmp_path: Path) -> None:
    items = gendermark.items("gest", "ru", data="core").items
    lines = ["from,to", *(f'"{item.source}",Я был там.' for item in items), "I am somebody else.,Я другой."]
    path = tmp_path / "translations.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    result = gendermark.score("gest", path, "ru", data="core")
    assert all(judgement.verdict is Verdict.JUDGED for judgement in result.judgements)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"to": "de"}, "unknown target language of gest from en .*'de'"),
        ({}, "say which language gest was translated into: --to be"),
        (
            {"to": "es", "rules": "paper"},
            r"rules paper of gest covers the paper's languages .*not es; use --rules best",
        ),
        ({"to": "es", "detector": "suffix"}, "detector suffix of gest covers .*not es; leave out --detector"),
        ({"to": "cs", "rules": "paper", "detector": "speaker"}, "read with detector suffix, not speaker; leave out"),
        ({"to": "cs", "revision": "2.0", "data": "official"}, "unknown revision of gest '2.0'"),
        ({"to": "cs", "revision": "1.0"}, "core data has no --revision"),
        ({"to": "cs", "rules": "first"}, "unknown rules of gest 'first'"),
        ({"to": "cs", "detector": "ud"}, "unknown detector of gest 'ud'"),
        ({"to": "cs", "parts": ("brave",)}, "unknown stereotype of gest 'brave'"),
        ({"to": "cs", "cluster": "stereotype"}, "unknown cluster of gest 'stereotype'"),
        ({"to": "cs", "alpha": "2"}, "gest takes no --alpha"),
    ],
)
def test_refusals(options: dict[str, str], problem: str) -> None:
    with pytest.raises(UserError, match=problem):
        gendermark.items("gest", **{"data": "core", **options})
