"""Tasks of lm-evaluation-harness, for its `--include_path`; this package needs nothing of it."""
