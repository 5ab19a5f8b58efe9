"""A real browser for the pages we write: Chromium through Playwright, with everything it complains about kept.

The tests here skip with a reason where Playwright, Chromium or axe-core is not installed.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from runs.children import PATIENCE_SECONDS

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

ARGUMENTS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
_CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome")
_AXE_PATHS = ("node_modules/axe-core/axe.min.js", "tests/browser/node_modules/axe-core/axe.min.js")
REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass
class Watched:
    """A page, and what went wrong on it: console errors, uncaught exceptions, requests to anywhere else."""

    page: Page
    origin: str
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    """Every address that was asked for, the page's own included."""
    dialogs: list[str] = field(default_factory=list)
    """What `alert` and its like said; hostile texts try to call it."""

    @property
    def foreign_requests(self) -> list[str]:
        return [url for url in self.requests if not url.startswith((self.origin, "data:", "blob:", "about:"))]

    def wait_for(self, condition: str, argument: Any = None, seconds: float = PATIENCE_SECONDS) -> None:
        """Until a function of the page says yes. (Playwright's own waiting needs `eval`, which our policies forbid.)"""
        deadline = time.monotonic() + seconds
        while not self.page.evaluate(condition, argument):
            assert time.monotonic() < deadline, f"waited {seconds:g} seconds for {condition} ({argument!r})"
            self.page.wait_for_timeout(20)

    def assert_quiet(self) -> None:
        """Nothing was complained about, and nobody else was asked for anything."""
        assert self.errors == []
        assert self.dialogs == []
        assert self.foreign_requests == []


OpenPage = Callable[..., Watched]


def expect(found: Locator) -> Any:
    from playwright.sync_api import expect as expect_

    return expect_(found)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for the tests of a module: its event loop must be gone before other tests start their own."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed: pip install playwright")
    program = os.environ.get("GENDERMARK_CHROMIUM") or next(filter(None, map(shutil.which, _CHROMIUM_NAMES)), None)
    if program is None:
        pytest.skip("no Chromium is installed; set GENDERMARK_CHROMIUM to its path")
    sync_api.expect.set_options(timeout=1000 * PATIENCE_SECONDS)
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[OpenPage]:
    """`open_page(address, width=1280, height=900, scheme="light", **context_options)` -> `Watched`.

    The address is a file's path or a URL.
    """
    contexts = []

    def open_(
        address: Path | str, width: int = 1280, height: int = 900, scheme: str = "light", **options: Any
    ) -> Watched:
        url = address.resolve().as_uri() if isinstance(address, Path) else address
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce", **options
        )
        contexts.append(context)
        page = context.new_page()
        # A file's page may ask for no other file either; a server's page may ask its own server.
        origin = url.split("#")[0] if url.startswith("file:") else "/".join(url.split("/", 3)[:3])
        watched = Watched(page, origin)
        page.on("console", lambda message: message.type == "error" and watched.errors.append(message.text))
        page.on("pageerror", lambda problem: watched.errors.append(str(problem)))
        page.on("request", lambda request: watched.requests.append(request.url))

        def dismiss(dialog: Any) -> None:
            watched.dialogs.append(dialog.message)
            dialog.dismiss()

        page.on("dialog", dismiss)
        page.goto(url)
        return watched

    yield open_
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def axe_source() -> str:
    """axe-core, which is a tool of these tests and no part of the project."""
    given = os.environ.get("GENDERMARK_AXE")
    for path in [Path(given)] if given else [REPOSITORY / name for name in _AXE_PATHS]:
        if path.is_file():
            return path.read_text(encoding="utf-8")
    pytest.skip("axe-core is not installed: npm install axe-core, or set GENDERMARK_AXE to its axe.min.js")


@pytest.fixture
def axe(axe_source: str) -> Callable[[Page], list[str]]:
    """The serious and critical accessibility violations of a page as it stands, one line each."""

    def check(page: Page) -> list[str]:
        page.evaluate(axe_source)  # through the debugger: the page's own policy would rightly refuse it
        found = page.evaluate("async () => (await axe.run(document, {resultTypes: ['violations']})).violations")
        return [
            f"{violation['id']}: {violation['help']} ({node['html'][:120]})"
            for violation in found
            if violation["impact"] in ("serious", "critical")
            for node in violation["nodes"]
        ]

    return check
