"""Words, lexicons and gender: what a translation says about a person."""
