"""Which Dutch words belong to a person."""

from __future__ import annotations

from gendermark.reading.attachment import Attachment


class Dutch(Attachment):
    pronouns_are_ambiguous = True


ATTACHMENT = Dutch()
