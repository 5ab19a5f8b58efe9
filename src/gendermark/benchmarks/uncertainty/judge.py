"""From samples to entropies: of strings, of the noun's gender, of meanings by similarity."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np

from gendermark import registry
from gendermark.benchmarks.benchmark import Answers, BenchmarkOf, ItemSet, sampled_requests, with_drawing
from gendermark.benchmarks.uncertainty import Settings, items
from gendermark.benchmarks.uncertainty import alphas as tuning
from gendermark.benchmarks.uncertainty.entailment import DEFAULT_MODEL, Entailment, clusters_with, entailment_clusters
from gendermark.benchmarks.uncertainty.measures import MEASURES
from gendermark.benchmarks.uncertainty.similarity import DEFAULT_E5, open_similarity
from gendermark.benchmarks.winomt.judge import BENCHMARK as WINOMT
from gendermark.benchmarks.winomt.judge import judge_best
from gendermark.errors import UserError
from gendermark.languages.language import Language
from gendermark.metrics import quality
from gendermark.metrics import uncertainty as arithmetic
from gendermark.metrics.metric import Floats
from gendermark.metrics.uncertainty import ALPHAS, Samples
from gendermark.reading.contrast import contrast, units_of
from gendermark.reading.detectors import detector_name
from gendermark.reading.failures import failure
from gendermark.records import Gender, Item, Judgement, Translation, Verdict
from gendermark.selection import SAMPLING, drawing_options

_N_RESAMPLES = 200
"""Resamples of one sentence's samples, for the standard error of its entropy."""
_SENTENCES_AT_ONCE = 256
"""Sentences per entailment batch: up to 32,000 pairs of texts."""
_N_SHOWN = 5
"""Distinct translations kept in the evidence."""

# Loaded before any work starts, so that missing models are reported early; and only once.
similarity_of = cache(open_similarity)
entailment_of = cache(Entailment)


@dataclass(frozen=True, slots=True)
class _Sentence:
    """The samples of one item, and the similarities of its distinct texts to each other and to references."""

    item: Item
    samples: Samples
    n_asked: int
    answers: Sequence[Translation]
    references: Sequence[items.Reference]
    genders: Sequence[Gender | None] = ()
    similarities: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    """Of the texts, then of the references."""
    meanings: Sequence[int] | None = None
    """The cluster of each text, if entailment was requested."""
    reference_meanings: Sequence[frozenset[int]] = ()


def judge(item_set: ItemSet, answers: Answers) -> list[Judgement]:
    """The judgements of all sentences. Word alignment learns from all samples; the rest is computed in portions."""
    settings: Settings = item_set.selection
    drawn = [_drawn(item, samples, settings) for item, samples in zip(item_set.items, answers, strict=True)]
    usual = tuning.WIDE_ALPHAS if settings.alpha == "tuned" else ALPHAS
    alphas = sorted({*usual, tuning.parse_alpha(settings.alpha) or tuning.ALPHA})
    similarities = similarity_of(settings.similarity, settings.distance).matrices(
        (*found.samples.texts, *(one.text for one in found.references)) for found in drawn
    )
    sentences = (
        replace(found, genders=genders, similarities=alike, meanings=own, reference_meanings=of_references)
        for found, genders, alike, (own, of_references) in zip(
            drawn, _genders(item_set, drawn), similarities, _meanings(drawn, settings.entailment), strict=True
        )
    )
    return [_judgement(found, alphas, settings) for found in sentences]


def render(item: Item, gender: Gender, settings: Settings) -> str:
    if not item.entity:
        raise UserError("mgente data marks no person in its sentences, so controls (fake:) cannot translate it")
    return WINOMT.render(item, gender, items.as_winomt(settings))


def fit(item: Item, text: str, settings: Settings) -> float | None:
    return WINOMT.fit(item, text, items.as_winomt(settings)) if item.entity else None


def _drawn(item: Item, answers: Sequence[Translation], settings: Settings) -> _Sentence:
    kept = [answer for answer in answers if failure(item.source, answer.text) is None]
    samples = Samples.of(answer.text or "" for answer in kept)
    return _Sentence(item, samples, len(answers), kept, items.references_of(item, settings))


def _expected_chrf(samples: Samples, references: Sequence[str]) -> float | None:
    """Mean chrF of samples against the correct translation; with several, against the most similar."""
    if not samples.n or not references:
        return None
    texts = [text for _ in references for text in samples.texts]
    wanted = [reference for reference in references for _ in samples.texts]
    best = quality.chrf_values(texts, wanted).reshape(len(references), -1).max(axis=0)
    return float(best @ samples.counts) / samples.n


def _genders(item_set: ItemSet, drawn: Sequence[_Sentence]) -> Iterator[list[Gender | None]]:
    """For each item, the noun's gender in each distinct translation, as in WinoMT; without a noun, by the
    references."""
    with_person = [found for found in drawn if found.item.entity]
    asked = [found.item for found in with_person for _ in found.samples.texts]
    texts = [text for found in with_person for text in found.samples.texts]
    readings = judge_best(ItemSet(items.as_winomt(item_set.selection), tuple(asked), ""), texts)
    for found in drawn:
        if found.item.entity:
            yield [next(readings).observed for _ in found.samples.texts]
        else:
            yield _genders_by_references(found.item, found.samples.texts, item_set.selection.target_language)


def _genders_by_references(item: Item, texts: Sequence[str], target_language: str) -> list[Gender | None]:
    """Read the gender of mGeNTE translations, which name no noun, by words that distinguish their references.

    If the source specifies gender (Set-G), a translation is gendered if it has words specific to the gendered reference
    and none specific to a neutral one, neutral in the reverse case, else undecided. Annotated words, if any, take
    precedence. Set-N has no annotated gender.
    """
    if items.is_open(item.expected) or "reference_gendered" not in item.tags:
        return [None] * len(texts)
    language: Language = registry.load("language", target_language)
    contrasts = [contrast(item.tags["reference_gendered"], text, language) for text in items.neutral_references(item)]
    gendered = frozenset.intersection(*(one.right for one in contrasts))
    neutral = frozenset.union(*(one.wrong for one in contrasts))
    if annotated := item.tags.get("gendered_terms"):
        terms = set(language.cut(annotated))
        gendered = frozenset(unit for unit in gendered if terms & set(unit))

    def gender(text: str) -> Gender | None:
        units = set(units_of(language.cut(text)))
        is_gendered, is_neutral = bool(units & gendered), bool(units & neutral)
        if is_gendered == is_neutral:
            return None
        return item.expected if is_gendered else Gender.NEUTRAL

    return [gender(text) for text in texts]


def _meanings(
    drawn: Sequence[_Sentence], entailment: str
) -> Iterator[tuple[Sequence[int] | None, Sequence[frozenset[int]]]]:
    if not entailment:
        yield from ((None, ()) for _ in drawn)
        return
    entails = entailment_of(entailment)
    portions = [drawn[start : start + _SENTENCES_AT_ONCE] for start in range(0, len(drawn), _SENTENCES_AT_ONCE)]
    for portion in portions:
        texts = [found.samples.texts for found in portion]
        clusters = entailment_clusters(texts, entails)
        wanted = [[reference.text for reference in found.references] for found in portion]
        yield from zip(clusters, clusters_with(wanted, texts, clusters, entails), strict=True)


def _judgement(found: _Sentence, alphas: Sequence[float], settings: Settings) -> Judgement:
    item, samples, genders = found.item, found.samples, found.genders
    decided, labels = arithmetic.decided(samples, genders)
    n_of: Counter[object] = Counter()
    for label, n in zip(labels, decided.counts.tolist(), strict=True):
        n_of[label] += int(n)
    # Gender entropy cannot distinguish all-feminine from all-masculine; the share can.
    share = arithmetic.feminine_share(samples, genders)
    values: dict[str, float | None] = {
        "n_asked": found.n_asked,
        "n_translated": samples.n,
        "n_distinct": samples.n_distinct,
        "decided": 100 * decided.n / found.n_asked if found.n_asked else None,
        "h_string": arithmetic.shannon_entropy(samples),
        "h_string_corrected": arithmetic.shannon_entropy(samples, "miller-madow"),
        "h_gender": arithmetic.cluster_entropy(decided, labels),
        "h_gender_corrected": arithmetic.cluster_entropy(decided, labels, "miller-madow"),
        "chrf": _expected_chrf(samples, items.right_references(item, settings)),
        "h_within": arithmetic.within_labels(decided, labels),
        "p_feminine": share,
        "distance_from_even": None if share is None else abs(share - 0.5),
        "openness": arithmetic.openness(samples, genders),
    }
    if decided.n:
        values["p_neutral"] = n_of[Gender.NEUTRAL] / decided.n
        if not items.is_open(item.expected):
            values["p_right"] = n_of[item.expected] / decided.n
    own = found.similarities[: samples.n_distinct, : samples.n_distinct]
    for alpha, entropy in zip(alphas, arithmetic.s3e_entropies(samples, own, alphas), strict=True):
        values[f"h_s3e@{alpha:g}"] = entropy
    if found.meanings is not None:
        values["h_semantic"] = arithmetic.cluster_entropy(samples, found.meanings)
    values |= _standard_errors(found, decided, labels, alphas)
    logs = [answer.log_probability for answer in found.answers]
    if known := [log for log in logs if log is not None]:
        # Negative, like all surprisals here: sums over groups must not be below 0.
        values["nll"] = -math.fsum(known) / len(known)
        per_token = arithmetic.log_probability_per_token(logs, [answer.n_tokens for answer in found.answers])
        values["nll_per_token"] = None if per_token is None else -per_token
    if found.references and samples.n:
        values |= _surprisals(found, decided, labels, alphas)
    # The most frequent gender of the samples; none if tied.
    first, second = (*n_of.most_common(2), (None, 0), (None, 0))[:2]
    observed = Gender(str(first[0])) if first[1] > second[1] else None
    order = sorted(range(samples.n_distinct), key=lambda place: (-samples.counts[place], samples.texts[place]))
    evidence = tuple(
        f"{int(samples.counts[place])} x {samples.texts[place]} ({genders[place] or 'undecided'})"
        for place in order[:_N_SHOWN]
    )
    verdict = Verdict.JUDGED if decided.n else Verdict.UNJUDGEABLE if samples.n else Verdict.NOT_TRANSLATED
    measures = {name: float(value) for name, value in values.items() if value is not None}
    return Judgement.of(item, verdict, observed, evidence=evidence, measures=measures)


def _standard_errors(
    found: _Sentence, decided: Samples, labels: Sequence[Hashable], alphas: Sequence[float]
) -> dict[str, float | None]:
    samples, n = found.samples, found.samples.n_distinct
    names = ["h_gender_se", "h_string_se", *(f"h_s3e_se@{alpha:g}" for alpha in alphas)]
    names += ["h_semantic_se"] if found.meanings is not None else []
    if n < 2:  # identical samples do not vary
        return dict.fromkeys(names if decided.n else names[1:] if samples.n else (), 0.0)
    anew = arithmetic.resampled_counts(samples, _N_RESAMPLES, found.item.index)
    of_decided = anew
    if decided.n != samples.n:
        of_decided = arithmetic.resampled_counts(decided, _N_RESAMPLES, found.item.index)
    of_gender = arithmetic.resampled_cluster(of_decided, labels) if decided.n else None
    replicates = [arithmetic.resampled_shannon(anew)]
    replicates += [*arithmetic.resampled_s3es(anew, found.similarities[:n, :n], alphas)]
    if found.meanings is not None:
        replicates.append(arithmetic.resampled_cluster(anew, found.meanings))
    errors = np.stack(replicates).std(axis=1, ddof=1).tolist()
    return dict(zip(names, [None if of_gender is None else float(of_gender.std(ddof=1)), *errors], strict=True))


def _surprisals(
    found: _Sentence, decided: Samples, labels: Sequence[Hashable], alphas: Sequence[float]
) -> dict[str, float | None]:
    samples, n = found.samples, found.samples.n_distinct
    values: dict[str, float | None] = {}
    for place, reference in enumerate(found.references):
        side = reference.side
        if reference.gender is not None:
            values[f"i_gender.{side}"] = arithmetic.cluster_surprisal_of(decided, labels, reference.gender)
        values[f"i_string.{side}"] = arithmetic.shannon_surprisal_of(samples, reference.text)
        if found.meanings is not None:
            own = found.reference_meanings[place]
            is_same = [meaning in own for meaning in found.meanings]
            values[f"i_semantic.{side}"] = arithmetic.cluster_surprisal_of(samples, is_same, True)
        for alpha in alphas:
            to_samples = found.similarities[n + place, :n]
            values[f"i_s3e@{alpha:g}.{side}"] = arithmetic.s3e_surprisal_of(samples, to_samples, alpha)
    return values


SIMILARITY = "characters"
N_SAMPLES = 128
_FREE = frozenset({"epsilon", "seed", "top_k", "top_p"})
"""Sampling options that vary: the paper also names a top-k or top-p, whose value our copy of the text lacks."""
ELSEWHERE = "unknown=elsewhere"
"""Sampling method of samples drawn elsewhere."""


def by_the_paper(settings: Settings) -> Settings:
    """Fill in the settings of rules `paper`, as far as the paper specifies them, and refuse contradictions.

    128 samples with epsilon 0.2, similarity by multilingual E5, meanings by an mDeBERTa trained for inference (section
    3), alpha tuned (Appendix B). The paper does not give the size of E5, so the largest is used, nor whether alpha was
    tuned once for all systems: tune it in one run and pass it on.
    """
    drawn = dict(drawing_options(settings.sampling)) if settings.sampling not in ("", ELSEWHERE) else {"epsilon": "0.2"}
    is_epsilon = re.fullmatch(r"0?\.20*", drawn.get("epsilon", "")) is not None
    similarity, alpha = settings.similarity.partition(":")[0], settings.alpha
    for flag, theirs, given, agrees in (
        ("--n-samples", N_SAMPLES, settings.n_samples, settings.n_samples in (0, N_SAMPLES)),
        ("--sampling", f"{SAMPLING}, and a seed if you like", settings.sampling, drawn.keys() <= _FREE and is_epsilon),
        ("--similarity", "e5:MODEL", settings.similarity, similarity in ("", "e5")),
        ("--distance", "cosine", settings.distance, settings.distance in ("", "cosine")),
        ("--alpha", "tuned or tuned:RUN_FOLDER", alpha, alpha == "" or alpha.startswith("tuned")),
    ):
        if not agrees:
            raise UserError(f"rules paper need {flag} {theirs}, not {given}; use that, or --rules best")
    return replace(
        settings,
        similarity=settings.similarity or f"e5:{DEFAULT_E5}",
        alpha=settings.alpha or "tuned",
        entailment=settings.entailment or DEFAULT_MODEL,
    )


def complete(settings: Settings) -> Settings:
    if settings.rules == "paper":
        settings = by_the_paper(settings)
    settings = with_drawing(settings, N_SAMPLES)
    settings = replace(settings, similarity=settings.similarity or SIMILARITY)
    similarity = similarity_of(settings.similarity, settings.distance)
    settings = replace(settings, alpha=tuning.completed_alpha(settings, similarity.name))
    if settings.entailment:
        entailment_of(settings.entailment)
    return replace(settings, aligner=WINOMT.complete(items.as_winomt(settings)).aligner)


def signature(settings: Settings) -> Mapping[str, str]:
    similarity = similarity_of(settings.similarity, settings.distance)
    return {
        **({"variant": settings.variant} if settings.variant else {}),
        "samples": f"{settings.n_samples},{settings.sampling}",
        "similarity": f"{similarity.name},alpha-{settings.alpha}",
        **({"entailment": entailment_of(settings.entailment).name} if settings.entailment else {}),
        "aligner": f"lexicon+{settings.aligner}",
        "detector": detector_name(settings.target_language, settings.detector),
    }


def settled(judgements: Sequence[Judgement], settings: Settings) -> Settings:
    return replace(settings, alpha=tuning.settled_alpha(judgements, settings.alpha))


def drawn_elsewhere(settings: Settings, n_samples: int) -> Mapping[str, Any]:
    if settings.rules == "paper":
        by_the_paper(replace(settings, n_samples=n_samples))
    return {"n_samples": n_samples, "sampling": settings.sampling or ELSEWHERE}


BENCHMARK = BenchmarkOf(
    name="uncertainty",
    title="Semantic uncertainty",
    question="Is the system unsure exactly when the source is ambiguous?",
    settings=Settings,
    rules_version=4,
    language_pairs=WINOMT.language_pairs,
    complete_own=complete,
    load=items.load,
    requests=sampled_requests,
    judge=judge,
    measures=MEASURES,
    render=render,
    findings="gendermark.benchmarks.uncertainty.findings:PRESENTATION",
    card="winomt",
    paper="Staliūnaitė, Cheng and Vlachos (2026). Uncertainty quantification for evaluating gender bias in machine "
    "translation.",
    signature=signature,
    settled=settled,
    as_compared=tuning.as_compared,
    stereotype=WINOMT.stereotype,
    fit=fit,
    choices=items.choices,
    drawn_elsewhere=drawn_elsewhere,
    draws=True,
)
