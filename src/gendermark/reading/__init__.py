"""From text to evidence: words, lexicons, and the gender that a translation shows for each person."""
