"""Parse English text with the bundled pipeline: a tagger and a dependency parser trained on UD English EWT.

Another spaCy pipeline is used only on request. spaCy is imported when the first text is parsed. The bundled weights are
stored as 16-bit floats (`pack`) and restored on load.
"""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from gendermark.errors import UserError

if TYPE_CHECKING:
    from spacy import Language
    from spacy.tokens import Doc

VERSION = "ewt1"
"""Changes whenever the bundled weights do; part of signatures."""
_BATCH = 256


@dataclass(slots=True)
class Word:
    """One token of a text with its analysis."""

    index: int
    text: str
    lower: str
    tag: str
    """Penn Treebank part of speech."""
    relation: str
    """Universal Dependencies relation to its head, with subtype."""
    head: int
    """Index of the head; its own index for the root of a sentence."""
    start: int
    """Where it starts in the text."""
    sentence: int
    children: list[int] = field(default_factory=list)

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def version(name: str = "") -> str:
    return f"{name}-{_pipeline(name).meta['version']}" if name else VERSION


def parse(texts: Sequence[str], name: str = "") -> list[list[Word]]:
    nlp = _pipeline(name)
    tokens = [[token for token in nlp.make_doc(text) if not token.is_space] for text in texts]
    docs = (_without_spaces(nlp, own) for own in tokens)
    return [
        _words(doc, [token.idx for token in own])
        for doc, own in zip(nlp.pipe(docs, batch_size=_BATCH), tokens, strict=True)
    ]


def _without_spaces(nlp: Language, tokens: Sequence[Any]) -> Doc:
    """Drop tabs, line breaks and double spaces, which would be parsed as words."""
    from spacy.tokens import Doc

    spaces = [
        bool(token.whitespace_) or token.nbor().is_space if token.i + 1 < len(token.doc) else False for token in tokens
    ]
    return Doc(nlp.vocab, words=[token.text for token in tokens], spaces=spaces)


def _words(doc: Doc, starts: Sequence[int]) -> list[Word]:
    words: list[Word] = []
    sentence = -1
    for token, start in zip(doc, starts, strict=True):
        sentence += bool(token.is_sent_start) or not words
        words.append(
            Word(
                token.i, token.text, token.text.lower().replace("’", "'"), token.tag_, token.dep_, token.head.i,
                start, sentence,
            )
        )  # fmt: skip
    if any(word.relation in _UNIVERSAL or word.relation == "pobj" for word in words):
        _make_universal(words)
    for word in words:
        if word.head != word.index:
            words[word.head].children.append(word.index)
    return words


_UNIVERSAL = {
    "nsubjpass": "nsubj:pass",
    "csubjpass": "csubj",
    "dobj": "obj",
    "dative": "iobj",
    "poss": "nmod:poss",
    "relcl": "acl:relcl",
    "auxpass": "aux:pass",
    "attr": "xcomp",
    "acomp": "xcomp",
    "nn": "compound",
}
"""Relations of spaCy's English pipelines (ClearNLP) and what they are in Universal Dependencies."""


def _make_universal(words: Sequence[Word]) -> None:
    """Rewrite ClearNLP's relations, in which prepositions and copulas are heads, as Universal Dependencies."""
    for word in words:
        above = words[word.head]
        if word.relation == "pobj":
            is_of_noun = words[above.head].tag.startswith(("NN", "PRP"))
            relation = "obl:agent" if above.relation == "agent" else "nmod" if is_of_noun else "obl"
            word.head, word.relation, above.head, above.relation = above.head, relation, word.index, "case"
        elif word.relation in ("attr", "acomp") and above.lower in _BE:
            for other in words:
                if other.head == above.index and other is not word:
                    other.head = word.index
            word.head = word.index if above.head in (above.index, word.index) else above.head
            word.relation, above.head, above.relation = above.relation, word.index, "cop"
    for word in words:
        word.relation = _UNIVERSAL.get(word.relation, word.relation)


_BE = frozenset(("be", "am", "is", "are", "was", "were", "been", "being", "'s", "'re", "'m"))


@cache
def _pipeline(name: str = "") -> Language:
    if not name:
        return unpack((files("gendermark") / "data" / "models" / "english" / "parser.bin").read_bytes())
    import spacy

    try:
        nlp = spacy.load(name)
    except (OSError, ValueError):
        install = f"install it, for example with: python -m spacy download {name}"
        raise UserError(f"there is no spaCy pipeline {name!r}; {install}") from None
    if not nlp.has_pipe("parser"):
        raise UserError(f"the spaCy pipeline {name!r} has no parser; name one that has, for example en_core_web_sm")
    return nlp


def pack(nlp: Language) -> bytes:
    """Store a pipeline in few bytes: configuration, labels and 16-bit weights, without vocabulary."""
    import srsly

    components = {
        name: {**(stored := _loaded(pipe.to_bytes(exclude=["vocab"]))), "model": _cast(stored["model"], "float16")}
        for name, pipe in nlp.pipeline
    }
    return gzip.compress(srsly.msgpack_dumps({"config": nlp.config.to_str(), "components": components}), 9, mtime=0)


def unpack(packed: bytes) -> Language:
    import spacy
    import srsly

    stored = _loaded(gzip.decompress(packed))
    config = spacy.util.Config().from_str(stored["config"])
    nlp = spacy.util.load_model_from_config(config, auto_fill=True, validate=False)
    for name, pipe in nlp.pipeline:
        component = stored["components"][name]
        component["model"] = _cast(component["model"], "float32")
        pipe.from_bytes(srsly.msgpack_dumps(component), exclude=["vocab"])
        for label in getattr(pipe, "labels", ()):
            nlp.vocab.strings.add(label)
    return nlp


def _loaded(packed: bytes) -> dict[str, Any]:
    import srsly

    loaded: dict[str, Any] = srsly.msgpack_loads(packed)
    return loaded


def _cast(model: bytes, kind: str) -> bytes:
    import numpy
    import srsly

    def cast(value: Any) -> Any:
        if isinstance(value, numpy.ndarray) and value.dtype.kind == "f":
            return value.astype(kind)
        if isinstance(value, dict):
            return {key: cast(inner) for key, inner in value.items()}
        return [cast(inner) for inner in value] if isinstance(value, list | tuple) else value

    cast_model: bytes = srsly.msgpack_dumps(cast(srsly.msgpack_loads(model)))
    return cast_model
