"""English, the source language: word lists for people. `reading/people.py` reads them."""
