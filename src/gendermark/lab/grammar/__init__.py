"""A grammar of English and Spanish sentence pairs with a gender bias, to train the demonstration model on.

The sentences are in `tables/`, in the notation of `notation.py`; the bias is the formula of `bias.py`.
"""

from gendermark.lab.grammar.generator import Pair, generate

__all__ = ["Pair", "generate"]
