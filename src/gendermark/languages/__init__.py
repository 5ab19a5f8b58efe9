"""One file per target language: which words agree with a noun, and how words are cut."""
