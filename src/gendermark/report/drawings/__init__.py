"""One file per kind of figure: which numbers it shows, and what its caption says."""
