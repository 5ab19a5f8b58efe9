"""What the experiments' own options say of themselves, and their defaults: the command line is made from them.

Imports nothing, so that help costs nothing.
"""

from __future__ import annotations

ABOUT = "Experiments and analyses: debiasing, and what semantic uncertainty shows."

# Analyses of run folders
RUN = "Run folder with uncertainty results."
RUNS = "Run folders with uncertainty results."
ACCURACY = "Run folder with WinoMT results of the same systems; may be repeated."
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
