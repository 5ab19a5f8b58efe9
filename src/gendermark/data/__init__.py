"""Data sets: cards of the official ones, their download and cache; `core/` holds the bundled ones."""

from gendermark.data.official import Card, DataFile, OfficialFiles, Revision, card_names, load_card, official_files

__all__ = ["Card", "DataFile", "OfficialFiles", "Revision", "card_names", "load_card", "official_files"]
