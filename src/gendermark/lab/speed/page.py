"""A study of speed as one page, and all the files it leaves beside its run folders."""

from __future__ import annotations

import shlex
from pathlib import Path

from gendermark.benchmarks.findings import direction
from gendermark.drawing.sheet import Figure
from gendermark.io.textfiles import write_text
from gendermark.lab.speed import tables
from gendermark.lab.speed.drops import ARITHMETIC, MAX_DROPS
from gendermark.lab.speed.figures import figures
from gendermark.lab.speed.measured import Study
from gendermark.lab.speed.published import sections
from gendermark.lab.speed.timing import CLOCKS, N_WARM_UP
from gendermark.lab.speed.words import findings
from gendermark.markup import Content, Markup, joined, tag
from gendermark.records import Table
from gendermark.report.numbers import body_row, head_row, table
from gendermark.report.page import plain_page

PAGE = "speed.html"


def write_files(study: Study, output: Path, command: str = "") -> list[Path]:
    """The page, the tables and the figures; gives where they are. `command` is what makes them again."""
    drawn = figures(study)
    files = {
        PAGE: render(study, drawn, command),
        "table.md": tables.markdown(study),
        "table.tex": tables.latex(study),
        **{f"{one.name}.svg": one.svg for one in drawn},
    }
    for name, text in files.items():
        write_text(output / name, text)
    return [output / name for name in files]


def render(study: Study, drawn: list[Figure], command: str = "") -> str:
    title = f"Speed and gender: {direction(*study.direction.split('-'))}"
    links = [("#finding", "The finding"), ("#numbers", "The numbers"), ("#pictures", "The pictures")]
    links += [("#changes", "What changed"), *([("#published", "In the paper")] if _is_published(study) else [])]
    links.append(("#measured", "How it was measured"))
    contents = tag("ul", [tag("li", tag("a", text, href=href)) for href, text in links])
    header = joined([tag("h1", title), tag("nav", contents, aria_label="Contents")])
    parts = [_finding(study), _numbers(study), _pictures(drawn), _changes(study), _published(study)]
    main = joined([*parts, _measured(study, command)])
    return plain_page(title, header, main)


def _finding(study: Study) -> Markup:
    about = (
        f"Each is compared with {study.baseline.name}. In brackets: {100 * study.confidence:g} % intervals. What could "
        "be chance, since many numbers were looked at, is told as such (Holm's correction)."
    )
    notes = [tag("p", f"{note[:1].upper()}{note[1:]}.", class_="note") for note in study.notes]
    told = tag("ul", [tag("li", sentence) for sentence in findings(study)])
    return tag("section", tag("h2", "The finding"), told, tag("p", about, class_="note"), notes, id="finding")


def _numbers(study: Study) -> Markup:
    n = len(study.points)
    main = tables.table4(study)
    caption = (
        f"In the form of Table 4 of Renduchintala et al. (2021): seconds for 1,000 sentences (median of "
        f"{len(study.rounds.rounds)} rounds), quality, and percent right. FO, MO: occupations of women, of men; FC, "
        "MC: the sentence says that the person is a woman, a man."
    )
    meant = tag(
        "dl", [[tag("dt", f"drop, {how}"), tag("dd", means)] for how, means in MAX_DROPS.items()], class_="facts"
    )
    rows = [_row(row) for row in main.rows]
    parts = [table(caption, [head_row(*main.columns)], [*rows[:n], *rows[n:]]), meant, _table(tables.prices(study))]
    more_numbers = tables.others(study)
    parts += [_table(more_numbers)] if more_numbers.rows else []
    lost = (
        "Points lost per second: by how many points women in men's occupations fared worse for each second saved on "
        "1,000 sentences; below 0, they fared better. There is no number where no time was clearly saved."
    )
    both = _table(tables.arithmetic(study))
    rules = tag("dl", [[tag("dt", how), tag("dd", means)] for how, means in ARITHMETIC.items()], class_="facts")
    more = tag("details", tag("summary", "pro and anti by both rules of arithmetic"), both, rules)
    spans = tag("details", tag("summary", "every number with its interval"), _table(tables.intervals(study)))
    return tag("section", tag("h2", "The numbers"), parts, tag("p", lost, class_="note"), spans, more, id="numbers")


def _pictures(drawn: list[Figure]) -> Markup:
    # The drawing escapes every text itself; in the page it takes the page's colours, dark ones too.
    shown = [
        tag("figure", tag("h3", one.title), Markup(one.svg), tag("figcaption", one.caption, class_="note"))
        for one in drawn
    ]
    return tag("section", tag("h2", "The pictures"), tag("div", shown, class_="pictures"), id="pictures")


def _changes(study: Study) -> Markup:
    whole = tables.changes(study)
    parts: list[Content] = []
    for point in study.points:
        rows = [_row(row[1:]) for row in whole.rows if row[0] == point.name]
        if rows:
            parts += [
                tag("h3", point.name),
                table(f"{point.name} against {study.baseline.name}.", [head_row(*whole.columns[1:])], rows),
            ]
    about = tag(
        "p",
        "p is corrected by Holm's method over the numbers of each pair of points, as ",
        tag("code", "gendermark compare"),
        " does.",
        class_="note",
    )
    return tag("section", tag("h2", "What changed"), about, parts, id="changes")


def _row(row: tuple[str, ...]) -> Markup:
    return body_row(row[0], *row[1:])


def _table(found: Table) -> Markup:
    return table(found.title, [head_row(*found.columns)], [_row(row) for row in found.rows])


def _is_published(study: Study) -> bool:
    return any(section.direction == study.direction for section in sections())


def _published(study: Study) -> Markup | None:
    if not _is_published(study):
        return None
    found: list[Content] = []
    for section in sections():
        if section.direction == study.direction:
            found.append(_table(section.drops()))
            found += [tag("p", section.misprinted(), class_="note")] if section.misprinted() else []
    about = (
        "What the authors found, to compare with the drops above: other models, other data, another machine. Time and "
        "BLEU were measured on the test sets of WMT."
    )
    return tag("section", tag("h2", "In the paper"), tag("p", about, class_="note"), found, id="published")


def _measured(study: Study, command: str) -> Markup:
    facts, rounds = study.facts, study.rounds
    rows: list[tuple[str, str]] = [
        (
            "time",
            f"{CLOCKS[rounds.clock]}; {len(rounds.rounds)} rounds of all points in turn, each after {N_WARM_UP} "
            "sentences that do not count",
        ),
        ("timed on", f"{facts['n_timed']:,} sentences of {facts['timed_on']}"),
        ("test set", str(facts["test_set"] or "none")),
        ("data", f"{facts['data']}; rules {facts['rules']}"),
        ("machine", ", ".join(f"{key} {value}" for key, value in facts["machine"].items())),
    ]
    for name, one in facts["systems"].items():
        said = [one["spec"], *(f"{key}={value}" for key, value in one["options"].items())]
        known = (one["decoding"], one["computing"], one["system_id"])
        rows.append((name, "; ".join(filter(None, (" ".join(said), *known)))))
    listed = tag("dl", [[tag("dt", name), tag("dd", tag("bdi", text))] for name, text in rows], class_="facts")
    runs = shlex.join(f"{point.name}=runs/{point.slug}" for point in study.points)
    lines = {command: "This page:", f"gendermark report {runs} -o report.html": "All sentences, side by side:"}
    again = [[tag("p", what), tag("pre", tag("code", line))] for line, what in lines.items() if line]
    return tag("section", tag("h2", "How it was measured"), listed, again, id="measured")
