"""One folder per target language: grammar, lexicon and word lists."""
