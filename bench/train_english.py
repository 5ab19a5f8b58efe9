"""Train the English tagger and parser that reads people, on UD English EWT.

Run: python bench/train_english.py MIRROR OUT [--steps N]
MIRROR holds the official data; OUT receives checkpoints, figures on dev and the packed model. Rerun to resume.
"""

import argparse
import gzip
import json
import random
import time
import tomllib
from pathlib import Path

import numpy
import spacy
from spacy.tokens import Doc
from spacy.training import Example
from spacy.training.converters import conllu_to_docs
from spacy.util import fix_random_seed
from thinc.api import Adam

from gendermark.reading.parser import pack

TREEBANK = "UniversalDependencies/UD_English-EWT/15d613d8447b3478787d4c278730a1e48a945efb/en_ewt-ud-{}.conllu.gz"
SEED = 27
WORDS_PER_STEP = 1000
LOWERED = 0.08
EXCHANGED = 0.5
WORDS = Path(__file__).parents[1] / "src" / "gendermark" / "languages" / "en"
PEAK = 0.002

CONFIG = """
[nlp]
lang = "en"
pipeline = ["tok2vec", "tagger", "parser"]

[components]

[components.tok2vec]
factory = "tok2vec"

[components.tok2vec.model]
@architectures = "spacy.Tok2Vec.v2"

[components.tok2vec.model.embed]
@architectures = "spacy.MultiHashEmbed.v2"
width = 96
attrs = ["NORM", "PREFIX", "SUFFIX", "SHAPE"]
rows = [8000, 1000, 3000, 1500]
include_static_vectors = false

[components.tok2vec.model.encode]
@architectures = "spacy.MaxoutWindowEncoder.v2"
width = 96
depth = 4
window_size = 1
maxout_pieces = 3

[components.tagger]
factory = "tagger"

[components.tagger.model]
@architectures = "spacy.Tagger.v2"

[components.tagger.model.tok2vec]
@architectures = "spacy.Tok2VecListener.v1"
width = 96

[components.parser]
factory = "parser"

[components.parser.model]
@architectures = "spacy.TransitionBasedParser.v2"
state_type = "parser"
extra_state_tokens = false
hidden_width = 96
maxout_pieces = 2
use_upper = true

[components.parser.model.tok2vec]
@architectures = "spacy.Tok2VecListener.v1"
width = 96
"""


def sentences(mirror: Path, split: str) -> list[Doc]:
    """Read one split of the treebank, one document per sentence."""
    text = gzip.decompress((mirror / TREEBANK.format(split)).read_bytes()).decode()
    return list(conllu_to_docs(text, n_sents=1, no_print=True))


def texts(parts: list[Doc], chance: random.Random) -> list[Doc]:
    """Join consecutive sentences into texts of one to four, in a new order."""
    joined, at = [], 0
    while at < len(parts):
        size = chance.choice((1, 1, 1, 2, 3, 4))
        joined.append(Doc.from_docs(parts[at : at + size]))
        at += size
    chance.shuffle(joined)
    return joined


def person_nouns() -> list[str]:
    """Plain nouns for people of the word lists."""
    lines = (WORDS / "wordnet.txt").read_text(encoding="utf-8").partition("[people]")[2].partition("[masculine]")[0]
    own = tomllib.loads((WORDS / "people.toml").read_text(encoding="utf-8"))["nouns"]["people"]
    return sorted({word for word in f"{lines} {own}".split() if word.isalpha() and word.islower() and len(word) > 3})


def plural(noun: str) -> str:
    """A regular plural."""
    if noun.endswith("man"):
        return f"{noun[:-3]}men"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return f"{noun[:-1]}ies"
    return noun + ("es" if noun.endswith(("s", "x", "z", "ch", "sh")) else "s")


def varied(gold: Doc, nouns: list[str], chance: random.Random) -> Doc:
    """Exchange nouns for people, so that rare ones are met too, and lower the case of some texts."""
    words, known = [token.text for token in gold], set(nouns)
    for place, token in enumerate(gold):
        if token.tag_ == "NN" and token.text in known and chance.random() < EXCHANGED:
            words[place] = chance.choice(nouns)
        elif token.tag_ == "NNS" and token.text.removesuffix("s") in known and chance.random() < EXCHANGED:
            words[place] = plural(chance.choice(nouns))
    if chance.random() < LOWERED:
        words = [word.lower() for word in words]
    copy = Doc(gold.vocab, words=words, spaces=[bool(token.whitespace_) for token in gold])
    return copy.from_array(["TAG", "HEAD", "DEP"], gold.to_array(["TAG", "HEAD", "DEP"]))


def figures(nlp: spacy.Language, parts: list[Doc]) -> dict[str, float]:
    """Score tags and dependencies on sentences."""
    scores = nlp.evaluate([Example(nlp.make_doc(gold.text), gold) for gold in parts])
    return {key: round(100 * scores[key], 2) for key in ("token_acc", "tag_acc", "dep_uas", "dep_las", "sents_f")}


def train(mirror: Path, out: Path, steps: int) -> None:
    """Train for a fixed number of steps; the learning rate rises for 200 steps, then falls to zero."""
    fix_random_seed(SEED)
    numpy.random.seed(SEED)
    chance = random.Random(SEED)
    nlp = spacy.util.load_model_from_config(spacy.util.Config().from_str(CONFIG), auto_fill=True)
    training, development = sentences(mirror, "train"), sentences(mirror, "dev")
    nlp.initialize(lambda: [Example(nlp.make_doc(gold.text), gold) for gold in training])
    done = 0
    if (out / "figures.jsonl").exists():
        nlp = spacy.load(out / "checkpoint")
        done = json.loads((out / "figures.jsonl").read_text().splitlines()[-1])["step"]
    optimizer = Adam(PEAK, L2=0.01, grad_clip=1.0, use_averages=True, L2_is_weight_decay=True)
    nouns = person_nouns()
    step, started, waiting = done, time.time(), []
    while step < steps:
        if not waiting:
            waiting = texts(training, chance)
        batch, words = [], 0
        while waiting and words < WORDS_PER_STEP:
            gold = waiting.pop()
            gold = varied(gold, nouns, chance)
            batch.append(Example(nlp.make_doc(gold.text), gold))
            words += len(gold)
        optimizer.learn_rate = PEAK * min((step + 1) / 200, (steps - step) / (steps - 200))
        nlp.update(batch, sgd=optimizer, drop=0.1)
        step += 1
        if step % 250 == 0 or step == steps:
            with nlp.use_params(optimizer.averages):
                row = {"step": step, "seconds": round(time.time() - started), **figures(nlp, development)}
                nlp.to_disk(out / "checkpoint", exclude=["vocab"])
            with (out / "figures.jsonl").open("a") as file:
                file.write(json.dumps(row) + "\n")
            print(row, flush=True)
    (out / "parser.bin").write_bytes(pack(spacy.load(out / "checkpoint")))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mirror", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--steps", type=int, default=2700)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    train(given.mirror, given.out, given.steps)
