"""Our own transformer: word by word it says what it says of whole sentences, and its search finds the best."""

from __future__ import annotations

from itertools import chain, product
from typing import Any

import pytest

from gendermark.errors import UserError
from gendermark.lab.architectures import ATTENTIONS, Architecture, parse_depths

torch: Any = pytest.importorskip("torch")

from gendermark.lab.searching import Search  # noqa: E402
from gendermark.lab.transformer import Transformer  # noqa: E402
from gendermark.systems.engine import padded  # noqa: E402

N_WORDS, END = 7, 0
PAD = N_WORDS - 1


def _model(attention: str, shape: tuple[int, int] = (2, 2), spread: float = 4.0, seed: int = 3) -> Transformer:
    torch.manual_seed(seed)
    model = Transformer(Architecture(*shape, attention, width=16, n_heads=2, feed_forward=24), N_WORDS)
    model.initialise()
    with torch.no_grad():
        model.vectors.weight *= spread  # else every answer is about as likely as any other
    return model.eval()


SOURCES = [[1, 2, 3, 4, END], [5, END], [2, 2, 4, END]]
TARGETS = [[3, 3, END], [1, 2, 3, 4, 5, END], [4, END]]


@pytest.mark.parametrize("attention", ATTENTIONS)
def test_word_by_word_as_whole_sentences(attention: str) -> None:
    model = _model(attention)
    sources, targets = torch.tensor(padded(SOURCES, PAD)), torch.tensor(padded(TARGETS, PAD))
    with torch.no_grad():
        whole = model(sources, targets)
        memory, state, last, steps = model.read(sources), model.begin(), torch.full((3, 1), PAD), []
        for place in range(targets.shape[1]):
            logits, state = model.step(last, state, memory)
            steps.append(logits[:, 0])
            last = targets[:, place : place + 1]
    by_word = torch.stack(steps, dim=1)[targets != PAD]
    assert whole.shape == (sum(map(len, TARGETS)), N_WORDS - 1)
    assert torch.allclose(by_word, whole, atol=1e-5)
    alone = torch.cat([model(torch.tensor([s]), torch.tensor([t])) for s, t in zip(SOURCES, TARGETS, strict=True)])
    assert torch.allclose(alone, whole, atol=1e-5)  # padding has no say
    later = torch.tensor(padded([[*TARGETS[0][:1], 5, 5], *TARGETS[1:]], PAD))
    assert torch.equal(model(sources, later)[0], whole[0])  # nor has what comes later


def test_the_average_is_that_of_the_paper() -> None:
    model = _model("average", (1, 1))
    past = model.decoder[0].past
    x = torch.randn(1, 3, 16)
    with torch.no_grad():
        third = past(x)[0, 2]
        g = past.feed_forward(x[0].mean(dim=0))
        i, f = torch.sigmoid(past.gates(torch.cat([x[0, 2], g]))).chunk(2)
    assert torch.allclose(third, i * x[0, 2] + f * g, atol=1e-6)


@pytest.mark.parametrize("attention", ATTENTIONS)
def test_a_wide_search_finds_the_best_of_all_translations(attention: str) -> None:
    longest, words = 4, range(1, N_WORDS - 1)
    every = [[*said, END] for n in range(1, longest) for said in product(words, repeat=n)]
    every += [list(said) for said in product(words, repeat=longest)]
    n_greedy = 0
    for seed in range(4):
        model = _model(attention, spread=2.0, seed=seed)
        wide, narrow = (Search(model, END, size, longest).translate(SOURCES) for size in (len(every), 1))
        for source, found, greedy in zip(SOURCES, wide, narrow, strict=True):
            with torch.no_grad():
                logits = model(torch.tensor([source] * len(every)), torch.tensor(padded(every, PAD)))
            by_word = logits.log_softmax(-1)[torch.arange(len(logits)), torch.tensor([*chain(*every)])]
            scores = [float(part.mean()) for part in by_word.split([len(said) for said in every])]
            best = max(range(len(every)), key=scores.__getitem__)
            assert [*found.words, *[END] * found.ended] == every[best]
            assert found.score(1.0) == pytest.approx(scores[best], abs=1e-5)
            n_greedy += greedy.words == found.words
    assert n_greedy < 4 * len(SOURCES), "if greed finds them all, nothing is proven"


@pytest.mark.parametrize("attention", ATTENTIONS)
def test_a_translation_does_not_depend_on_its_batch(attention: str) -> None:
    model = _model(attention, spread=1.0)
    for beam_size in (1, 2, 5):
        search = Search(model, END, beam_size=beam_size, max_length=12)
        alone = [search.translate([source])[0] for source in SOURCES]
        together = search.translate(SOURCES)
        assert [one.words for one in alone] == [one.words for one in together]
        assert [one.log_probability for one in alone] == pytest.approx([one.log_probability for one in together])


def test_the_number_of_weights() -> None:
    for attention, shape in product(ATTENTIONS, [(3, 1), (1, 3)]):
        model = _model(attention, shape)
        assert model.shape.n_parameters(N_WORDS) == sum(weight.numel() for weight in model.parameters())


@pytest.mark.parametrize("text", ["6", "6,0", "0,6", "6,6,6", "six,six", "99,2", ""])
def test_an_unknown_architecture(text: str) -> None:
    with pytest.raises(UserError, match=r"^unknown architecture .*; write the layers of encoder and decoder, 6,6 or"):
        parse_depths(text)


def test_architectures() -> None:
    assert parse_depths("10, 2") == (10, 2)
    assert Architecture(10, 2).name == "10,2"
    assert Architecture(10, 2, "average").name == "10,2 average"
    with pytest.raises(UserError, match=r"^unknown attention of the decoder 'both'; available: average, self$"):
        Architecture(attention="both")
    with pytest.raises(UserError, match=r"^width 100 cannot be shared by 8 heads; it must be a multiple of 16"):
        Architecture(width=100, n_heads=8)
    with pytest.raises(UserError, match=r"n_encoder_layers is a whole number, at least 1, not 0$"):
        Architecture(0, 6)
