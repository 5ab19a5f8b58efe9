"""The command line, for tests that look at what it writes."""

from cli.conftest import cli

__all__ = ["cli"]
