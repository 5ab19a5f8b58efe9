"""Tasks for `--include_path` of lm-evaluation-harness; this package does not import the harness."""
