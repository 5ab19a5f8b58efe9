"""The first person in Serbian."""

from __future__ import annotations

from gendermark.languages.hr.speaker import FITTED, SPEAKER

# Serbian is read in Latin letters, as Croatian is.
EXAMPLES = ("Био сам тамо.", "Била сам тамо.", "Овде сам.")
"""Masculine, feminine, and without gender."""

__all__ = ["EXAMPLES", "FITTED", "SPEAKER"]
