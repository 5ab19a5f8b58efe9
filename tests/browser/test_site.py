"""The documentation opened from disk: it is searched without a server, and asks nobody else for anything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from built_site import build_site


@pytest.mark.slow
def test_search_works_from_disk(
    browser: Any, open_page: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    site = build_site(tmp_path_factory.mktemp("site"))
    watched = open_page(site / "benchmarks" / "tgbi.html")  # addresses from below the first page must be right too
    query = watched.page.locator("input[name=query]")
    watched.wait_for("() => document.readyState === 'complete'")
    query.focus()
    watched.wait_for("() => document.querySelector('.md-search-result__meta').textContent.includes('Type to start')")
    query.press_sequentially("imbalance")
    watched.wait_for("() => document.querySelectorAll('.md-search-result__link').length > 3")
    found = watched.page.locator(".md-search-result__link").evaluate_all("links => links.map(link => link.href)")
    assert any("/reference/metrics.html" in address for address in found)
    assert watched.errors == []
    assert [url for url in watched.requests if not url.startswith(("file:", "data:", "about:"))] == []
