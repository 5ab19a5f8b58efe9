"""What the experiments' own options say of themselves, and their defaults: the command line is made from them.

Imports nothing, so that help costs nothing.
"""

from __future__ import annotations

ABOUT = "Experiments and analyses: speed, training, mitigation, debiasing, and what semantic uncertainty shows."

# Analyses of run folders
RUN = "Run folder with uncertainty results."
RUNS = "Run folders with uncertainty results."
ACCURACY = "Run folder with WinoMT results of the same systems; may be repeated."
REFERENCES = (
    "What counts where the gender is open and several references are right: the mean of the scores against each, or "
    "the best, as in the paper."
)
PLAIN = (
    "Instead: BLEU and chrF of the systems of uncertainty runs on this test set; a file of sentences and one of "
    "translations."
)
PLAIN_BUNDLED = "The same on the bundled test set, English to Spanish, which the demonstration model has not seen."
TRANSLATIONS = "Translations of the sentences of --plain, one per line, to be rated too; may be repeated."
PERMUTATION = (
    "What chance does, for p-values: systems change places within languages, or free: all cells. Default: languages, "
    "where two or more have several systems."
)

# How samples are drawn and compared
EPSILONS = (0.02, 0.05, 0.1, 0.2)
ALPHAS = ("4", "16", "64")

# Debiasing
GROUP = "Only this group of the uncertainty benchmark: referenced."
SAMPLES = "Samples of each sentence of the uncertainty benchmark."
N_SAMPLES = 32

# Speed
VARY = (
    "Option of the system and its values, for example beam_size=5,1; may be repeated, and every combination is a "
    "point. Default: what makes the family fast."
)
AGAINST = "Another system as a point, for example one that was distilled; may be repeated."
BASELINE = "Name of the point that the others are compared with. Default: the first."
TEST_SET = "Sentences and their translations: for BLEU and chrF, and to take time on. Default into es: a bundled set."
ALSO = "Another benchmark, whose headline numbers are measured as well; may be repeated."
REPEATS = "Rounds in which each point has its turn."
TIMED = "Sentences whose translation is timed in each round, spread over the test set."
CLOCK = "wall: the time that passed; cpu: the time that processors worked, for a busy machine."

# Mitigation
WITH = (
    "rerank, rerank:N, hinted:adjective, hinted:apposition, hinted:context, hinted:prompt; may be repeated. Default: "
    "all that the system can do."
)
PLAIN_FILES = "Test set for BLEU and chrF: a file of sentences and one of translations. Into Spanish one is bundled."
MITIGATE_REPEATS = "How often each is timed, asked directly; 0 leaves the timing out."

# Training
MODELS = (
    "A model and its name, for example base=torch:models/base; at least two. The others are compared with the first."
)
CONTEXT = (
    "What a model is shown before a contextual sentence: none, joined, separator:TEXT. Default: as it was taught, by "
    "what a torch: model says of itself."
)
