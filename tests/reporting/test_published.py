"""Printed results: facts of the papers, each with its source."""

from __future__ import annotations

import pytest

from gendermark import registry
from gendermark.reporting.published import all_published, how_comparable, published_values
from gendermark.selection import Selection


def _values(benchmark: str, direction: str, column: str) -> dict[str, float]:
    source, target = direction.split("-")
    metric, part = column.split(":")
    found = published_values(Selection(benchmark, source, target), metric, part)
    return {value.system: value.value for value in found if not value.remark.startswith("judged")}


def test_every_value_has_a_benchmark_a_source_and_a_label() -> None:
    for value in all_published():
        assert value.benchmark in registry.names("benchmark")
        source, target = value.direction.split("-")
        assert {len(source), len(target)} <= {2, 3}
        assert value.where.startswith(("Table ", "released figures"))
        assert value.paper.short.rpartition(", ")[2] in value.paper.citation
        assert value.label == f"published: {value.system} ({value.paper.short})"


def test_winomt_as_printed() -> None:
    assert _values("winomt", "en-es", "accuracy:all") == {
        "Google Translate": 53.1,
        "Microsoft Translator": 47.3,
        "Amazon Translate": 59.4,
        "SYSTRAN": 45.6,
    }
    assert _values("winomt", "en-de", "delta_g:all")["Edunov et al. 2018"] == 7.3
    assert "Amazon Translate" not in _values("winomt", "en-uk", "accuracy:all"), "a blank cell of the table"
    n_cells = sum(v.benchmark == "winomt" and v.metric == "accuracy" for v in all_published())
    assert n_cells == 33, "Table 2 has 31 cells, Table 3 two"


def test_simplegen_adds_up_except_where_a_note_says_so() -> None:
    for direction in ("en-es", "en-de"):
        columns = {name: _values("simplegen", direction, f"{name}:all") for name in ("pro", "anti", "delta")}
        assert len(columns["pro"]) == {"en-es": 10, "en-de": 8}[direction], "Tables 4a and 4b"
        for system, pro in columns["pro"].items():
            assert pro - columns["anti"][system] == pytest.approx(columns["delta"][system], abs=0.15)
            groups = [_values("simplegen", direction, f"correct:{group}")[system] for group in ("mofc", "fomc")]
            anti = (814 * groups[0] + 518 * groups[1]) / 1332
            (printed,) = (
                value
                for value in published_values(Selection("simplegen", "en", direction[3:]), "anti", "all")
                if value.system == system
            )
            if not printed.note:
                assert printed.value == pytest.approx(anti, abs=0.15)
            else:
                assert f"{anti:.1f}" in printed.note


def test_tgbi_is_the_mean_of_its_sets_except_where_a_note_says_so() -> None:
    selection = Selection("tgbi", "ko", "en")
    for index in published_values(selection, "tgbi", "all"):
        sets = [v.value for v in published_values(selection, "p_s") if v.system == index.system]
        assert len(sets) == 7
        assert (sum(sets) / 7 == pytest.approx(index.value, abs=1.5e-4)) != bool(index.note)


def test_mt_geneval_as_printed() -> None:
    gaps = [v.value for v in all_published() if v.metric == "delta_qual"]
    assert len(gaps) == 24
    assert sum(gaps) / 24 == pytest.approx(9.6, abs=0.05), "the mean that the paper's text gives"
    assert _values("mt-geneval-contextual", "en-ru", "accuracy:all")["GFST with context"] == 68.1
    people = [v for v in published_values(Selection("mt-geneval-contextual", "en", "es")) if v.remark]
    assert [v.value for v in people] == [57.0, 58.2, 58.5]


def test_uncertainty_as_printed() -> None:
    assert _values("uncertainty", "en-es", "h_gender:unambiguous")["Opus-MT"] == 0.21
    assert _values("uncertainty", "en-uk", "delta_i_s3e:all")["Tower+ 9B"] == pytest.approx(-0.117)
    for direction in ("en-es", "en-fr", "en-uk", "en-ru"):
        told, open_, delta = (
            _values("uncertainty", direction, column)
            for column in ("h_s3e:unambiguous", "h_s3e:ambiguous", "delta_h_pooled_s3e:all")
        )
        for system, printed in delta.items():
            assert (told[system] - open_[system]) / told[system] == pytest.approx(printed, abs=0.011)
        right, wrong, delta = (
            _values("uncertainty", direction, f"{metric}_s3e:all") for metric in ("i_right", "i_wrong", "delta_i")
        )
        assert len(delta) == 4
        for system, made in delta.items():
            assert (right[system] - wrong[system]) / right[system] == pytest.approx(made, abs=0.0006)


@pytest.mark.parametrize(
    ("data", "rules", "said"),
    [
        ("core", "best", "not these"),
        ("official", "best", "with the paper's scoring rules, which differ from ours"),
        ("official", "paper2019", "on the same sentences with the paper's scoring rules"),
    ],
)
def test_what_may_be_compared(data: str, rules: str, said: str) -> None:
    assert said in how_comparable(Selection("winomt", "en", "es", data=data, rules=rules))
