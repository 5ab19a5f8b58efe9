"""The tables of the papers as plain descriptions: which number stands where. Pages and texts are made from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from gendermark.report import words
from gendermark.result import Result

Cell = Sequence[Result | None]
"""One benchmark and direction: its result for every run, or none."""


class Place(NamedTuple):
    """A number of a table: of which cell and which run, and which one."""

    cell: int
    run: int
    metric: str
    slice: str = "all"
    with_interval: bool = True


@dataclass(frozen=True)
class Row:
    """Headed by a run, by a text, or by both."""

    values: Sequence[Place | None]
    run: int | None = None
    text: str = ""


@dataclass(frozen=True)
class Form:
    """A table; with `runs`, it has all its columns once for each of them."""

    name: str
    """Of a label in LaTeX: benchmark and number of the paper's table."""
    caption: str
    columns: Sequence[str]
    rows: Sequence[Row]
    runs: Sequence[int] = ()
    corner: str = ""

    def parts(self, most_columns: int) -> list[Form]:
        """The same as several tables, none of them with more columns than this where that can be."""
        n_runs = max(most_columns // len(self.columns), 1)
        if len(self.runs) <= n_runs:
            return [self]
        return [
            replace(
                self,
                name=f"{self.name}-{1 + first // n_runs}",
                runs=self.runs[first : first + n_runs],
                rows=[replace(row, values=self._of_runs(row, first, n_runs)) for row in self.rows],
            )
            for first in range(0, len(self.runs), n_runs)
        ]

    def _of_runs(self, row: Row, first: int, n_runs: int) -> Sequence[Place | None]:
        n = len(self.columns)
        return row.values[first * n : (first + n_runs) * n]


def forms(benchmark: str, cells: Sequence[Cell]) -> list[Form]:
    """The tables of a benchmark's paper, filled with what was run."""
    make = _FORMS.get(benchmark)
    return make(cells) if make and cells else []


def direction(cell: Cell) -> str:
    selection = next(result for result in cell if result is not None).selection
    return words.direction(selection.source_language, selection.target_language)


def _runs(cells: Sequence[Cell]) -> list[int]:
    """Those that have any of the cells."""
    return [run for run in range(len(cells[0])) if any(cell[run] is not None for cell in cells)]


def _by_direction(cells: Sequence[Cell], metrics: Sequence[str]) -> list[Row]:
    """A row per direction, with these metrics for each run."""
    return [
        Row([Place(number, run, metric) for run in _runs(cells) for metric in metrics], text=direction(cell))
        for number, cell in enumerate(cells)
    ]


def _by_run(cells: Sequence[Cell], columns: Sequence[tuple[str, str]]) -> list[Row]:
    """A row per direction and run; headed by that of the two of which there are several."""
    where = len(cells) > 1
    who = len(cells[0]) > 1 or not where
    return [
        Row(
            [Place(number, run, *column) for column in columns],
            run if who else None,
            direction(cell) if where else "",
        )
        for number, cell in enumerate(cells)
        for run, result in enumerate(cell)
        if result is not None
    ]


def _winomt(cells: Sequence[Cell]) -> list[Form]:
    caption = (
        "In the form of Table 2 of Stanovsky et al. (2019): accuracy over all sentences, F1 of men minus F1 of women, "
        "accuracy with minus against the stereotype."
    )
    rows = _by_direction(cells, ("accuracy", "delta_g", "delta_s"))
    return [Form("winomt-2", caption, ("Acc", "ΔG", "ΔS"), rows, _runs(cells))]


def _simplegen(cells: Sequence[Cell]) -> list[Form]:
    columns = {
        "pro": ("pro", "all"),
        "anti": ("anti", "all"),
        "Δ": ("delta", "all"),
        "FOFC": ("correct", "fofc"),
        "MOFC": ("correct", "mofc"),
        "ΔFC": ("delta_fc", "all"),
        "MOMC": ("correct", "momc"),
        "FOMC": ("correct", "fomc"),
        "ΔMC": ("delta_mc", "all"),
    }
    caption = (
        "In the form of Table 4 of Renduchintala et al. (2021): percent right. FO, MO: occupations of women, of men; "
        "FC, MC: the sentence says that the person is a woman, a man."
    )
    return [Form("simplegen-4", caption, list(columns), _by_run(cells, list(columns.values())))]


def _tgbi(cells: Sequence[Cell]) -> list[Form]:
    columns = {"P_S": "p_s", "woman": "p_w", "man": "p_m", "open": "p_n"}
    found = []
    for number, cell in enumerate(cells):
        runs = _runs([cell])
        results = [result for result in cell if result is not None]
        sets = dict.fromkeys(e.slice for result in results for e in result.estimates if e.metric == "p_s")
        rows = [
            Row(
                [Place(number, run, metric, name, metric == "p_s") for run in runs for metric in columns.values()],
                text=name,
            )
            for name in sets
        ]
        means = [place for run in runs for place in (Place(number, run, "tgbi"), None, None, None)]
        rows.append(Row(means, text="mean (TGBI)"))
        caption = (
            f"{direction(cell)}, in the form of Table 1 of Cho et al. (2019): P_S is 1 where the translations are "
            "neutral and 0 where all have one gender; beside it the shares."
        )
        selection = results[0].selection
        name = f"tgbi-1-{selection.source_language}-{selection.target_language}" if len(cells) > 1 else "tgbi-1"
        found.append(Form(name, caption, list(columns), rows, runs, corner="set"))
    return found


def _accuracies(benchmark: str, cells: Sequence[Cell]) -> Form:
    caption = "Accuracy, in the form of Table 10 of Currey et al. (2022); of pairs where the sentences come in pairs."
    rows = [Row([Place(number, run, "accuracy") for number in range(len(cells))], run) for run in _runs(cells)]
    return Form(f"{benchmark}-10", caption, [direction(cell) for cell in cells], rows)


def _contextual(cells: Sequence[Cell]) -> list[Form]:
    return [_accuracies("mt-geneval-contextual", cells)]


def _counterfactual(cells: Sequence[Cell]) -> list[Form]:
    caption = (
        "Quality, in the form of Table 8 of Currey et al. (2022): BLEU of the masculine and of the feminine sentences, "
        "and the first minus the second."
    )
    columns = {"masculine": "bleu_masculine", "feminine": "bleu_feminine", "Δqual": "delta_qual"}
    rows = _by_direction(cells, list(columns.values()))
    quality = Form("mt-geneval-counterfactual-8", caption, list(columns), rows, _runs(cells))
    return [_accuracies("mt-geneval-counterfactual", cells), quality]


def _uncertainty(cells: Sequence[Cell]) -> list[Form]:
    surprise = {
        "right gender": ("p_right", "unambiguous"),
        "ΔI (S3E)": ("delta_i_s3e", "all"),
        "ΔI (gender)": ("delta_i_gender", "all"),
        "ΔI (string)": ("delta_i_string", "all"),
    }
    caption = (
        "In the form of Table 3 of Staliūnaitė et al. (2026): the right gender where it is told, and how much less "
        "surprising the right than the wrong translation is (below 0 is good)."
    )
    found = [Form("uncertainty-3", caption, list(surprise), _by_run(cells, list(surprise.values())))]
    for kind, shown in (("s3e", "S3E"), ("gender", "gender")):
        entropies = {
            "told": (f"h_{kind}", "unambiguous"),
            "open": (f"h_{kind}", "ambiguous"),
            "ΔH": (f"delta_h_{kind}", "all"),
            "of 100 pairs": (f"awareness_{kind}", "all"),
        }
        caption = (
            f"In the form of Table 4 of Staliūnaitė et al. (2026): entropy ({shown}) of the samples where the gender "
            "is told and where it is open, the difference (below 0: less sure where it is open, as it should be), and "
            "in how many of 100 pairs it is so."
        )
        rows = _by_run(cells, list(entropies.values()))
        found.append(Form(f"uncertainty-4-{kind}", caption, list(entropies), rows))
    return found


_FORMS: Mapping[str, Callable[[Sequence[Cell]], list[Form]]] = {
    "mt-geneval-contextual": _contextual,
    "mt-geneval-counterfactual": _counterfactual,
    "simplegen": _simplegen,
    "tgbi": _tgbi,
    "uncertainty": _uncertainty,
    "winomt": _winomt,
}
