"""Quality for men minus quality for women, by any sacreBLEU metric or a user's scorer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from gendermark.data.own import check_unchanged
from gendermark.errors import UnknownName, UserError
from gendermark.metrics.intervals import estimate
from gendermark.metrics.metric import Description, Floats, Metric, Resampling, count
from gendermark.reading.contrast import without_tags
from gendermark.records import Estimate, Gender, Judgement, Unit, Verdict
from gendermark.result import Result
from gendermark.runs.compare import benchmark_of

Scorer = Callable[[list[str], list[str], list[str]], Sequence[float]]
"""(sources, translations, references) -> a score for each."""
_NAMED: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "bleu": ("BLEU", {}),
    "chrf": ("CHRF", {}),
    "chrf++": ("CHRF", {"word_order": 2}),
    "ter": ("TER", {}),
}
_GENDERS = (Gender.MASCULINE, Gender.FEMININE)


class QualityGap(NamedTuple):
    """Scores for men and for women, and their difference."""

    masculine: Estimate
    feminine: Estimate
    gap: Estimate

    def __repr__(self) -> str:
        return "\n".join(map(repr, self))


_Scores = tuple[str, str, Sequence[Sequence[float]], Callable[[Sequence[float]], float]]
"""Name and signature of a score, summable numbers of each sentence, and the score from their sums."""


def quality_gap(result: Result, scorer: Any, resampling: Resampling) -> QualityGap:
    sources, texts, references = _sentences(result)
    name, signature, rows, score = _scores(scorer, sources, texts, references)
    rows_of = dict(zip((j.item_id for j in result.judgements), rows, strict=True))
    width = len(rows[0])

    def tally(group: Sequence[Judgement]) -> Mapping[str, float]:
        counts: dict[str, float] = defaultdict(float)
        for judgement in group:
            for part in (str(judgement.expected), "all"):
                counts[f"{part}.n"] += 1
                counts[f"{part}.translated"] += judgement.verdict is not Verdict.NOT_TRANSLATED
                for place, number in enumerate(rows_of[judgement.item_id]):
                    counts[f"{part}.{place}"] += number
        return counts

    def value(*columns: Floats) -> Floats:
        each = np.array(columns).T
        return np.array([score(sums) if sums.any() else np.nan for sums in each], dtype=np.float64)

    def gap(*columns: Floats) -> Floats:
        return value(*columns[:width]) - value(*columns[width:])

    metrics = []
    for gender in _GENDERS:
        about = Description(name, f"{name} of {gender} sentences", "A score of quality.", Unit.SCORE, "neither")
        needs = tuple(f"{gender}.{place}" for place in range(width))
        metrics.append(Metric(about, str(gender), needs, value, f"{gender}.n", f"{gender}.translated"))
    label = f"masculine minus feminine, in {name}"
    about = Description(f"delta_{name}", label, "A gap in quality.", Unit.SCORE, "zero")
    both = (*metrics[0].needs, *metrics[1].needs)
    metrics.append(Metric(about, "all", both, gap, "all.n", "all.translated"))
    measures = benchmark_of(result).measures
    counts = count(result.judgements, tally, lambda judgement: measures.stratum(judgement, result.selection))
    return QualityGap(*estimate(counts, metrics, resampling, f"{result.signature}|scorer:{signature}"))


def _sentences(result: Result) -> tuple[list[str], list[str], list[str]]:
    if not result.texts:
        raise UserError(f"{result.cell} was loaded without its sentences; load its run folder, or score it again")
    check_unchanged(result.selection.data, result.origin, result.cell)
    items = {item.item_id: item for item in benchmark_of(result).load(result.selection).items}
    references = [items[judgement.item_id].tags.get("reference", "") for judgement in result.judgements]
    genders = {judgement.expected for judgement in result.judgements}
    if not all(references) or not genders.issuperset(_GENDERS):
        raise UserError(
            f"{result.cell} lacks references for sentences about men and about women; use MT-GenEval's pairs, "
            "MiTTenS, or your own data with a column `reference`"
        )
    sources, texts = zip(*((source, text or "") for source, text in result.texts), strict=True)
    return list(sources), list(texts), [without_tags(reference) for reference in references]


def _scores(scorer: Any, sources: list[str], texts: list[str], references: list[str]) -> _Scores:
    metrics = import_module("sacrebleu.metrics")
    if isinstance(scorer, str):
        if scorer.lower() not in _NAMED:
            raise UnknownName("scorer", scorer, _NAMED)
        kind, options = _NAMED[scorer.lower()]
        return _sacrebleu(scorer.lower(), getattr(metrics, kind)(**options), texts, references)
    if isinstance(scorer, metrics.base.Metric):
        return _sacrebleu(type(scorer).__name__.lower(), scorer, texts, references)
    if not callable(scorer):
        raise UserError(
            f"a scorer is a name ({', '.join(_NAMED)}), a sacreBLEU metric or a function, not {scorer!r:.60}"
        )
    name = getattr(scorer, "__name__", type(scorer).__name__)
    found = list(scorer(sources, texts, references))
    if len(found) != len(texts):
        raise UserError(f"{name} gave {len(found):,} scores for {len(texts):,} sentences, not one each")
    try:
        rows = [(float(score), 1.0) for score in found]
    except (TypeError, ValueError):
        raise UserError(f"{name} gave a score that is not a number") from None
    if not np.isfinite(rows).all():
        raise UserError(f"{name} gave a score that is not finite")
    return name, f"python:{name}", rows, lambda sums: sums[0] / sums[1]


def _sacrebleu(name: str, metric: Any, texts: list[str], references: list[str]) -> _Scores:
    """Use sacreBLEU's own statistics, so that the corpus score of any resample is exact."""
    whole = metric.corpus_score(texts, [references])
    rows = metric._extract_corpus_statistics(texts, [references])
    signature = str(metric.get_signature()).replace("|", ",")

    def value(sums: Sequence[float]) -> float:
        return float(metric._compute_score_from_stats([float(number) for number in sums]).score)

    if abs(value(np.sum(rows, axis=0)) - whole.score) > 1e-6:
        raise UserError(
            f"{name} cannot be computed from sums over sentences; pass a function that scores each sentence"
        )
    return name.replace("+", "p"), f"sacrebleu,{name},{signature}", rows, value
