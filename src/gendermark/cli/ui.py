"""`gendermark ui`: explore runs in the browser; and what every verb that serves pages shares."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from gendermark.cli.options import Names, folders
from gendermark.cli.terminal import say

if TYPE_CHECKING:
    from gendermark.report.server import Site

Host = Annotated[
    str, typer.Option("--host", help="Address to listen on; by default only this computer can reach the page.")
]
Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="Port to listen on; 0 takes a free one.")]
NoOpen = Annotated[bool, typer.Option("--no-open", help="Print the address only; do not open a browser.")]


def ui(
    runs: Annotated[
        list[str],
        typer.Argument(metavar="[NAME=]DIR...", help="Run folders, finished or still running; with names if you like."),
    ],
    host: Host = "127.0.0.1",
    port: Port = 0,
    no_open: NoOpen = False,
    name: Names = None,
) -> None:
    """Explore runs in the browser, sentence by sentence, even while they are running."""
    from gendermark.report.paging import RunFolders
    from gendermark.report.ui import Follower, ui_site
    from gendermark.runs.folder import read_manifest, refuse_part

    given = folders(runs, name)
    for one in given:
        refuse_part(one.path, read_manifest(one.path))
    say(f"reading {', '.join(str(one.path) for one in given)}")
    followed = RunFolders([one.path for one in given], [one.name for one in given], say)
    follower = Follower(followed)
    follower.start()
    try:
        serve_site(ui_site(followed, follower), host, port, no_open=no_open)
    finally:
        follower.end()


def serve_site(site: Site, host: str, port: int, *, no_open: bool, token: str = "") -> None:
    """Serve until Ctrl-C, with a new token if none is given. The address is the only thing on stdout."""
    from gendermark.report.server import Server

    with Server(site, host, port, token) as server:
        if server.is_open_to_others:
            say(
                "warning: other computers can reach this page; whoever has the address can do everything here, and "
                "nothing is encrypted on its way"
            )
        typer.echo(server.url)
        sys.stdout.flush()
        say("open this address in a browser; Ctrl-C ends it")
        if not no_open and _has_screen():
            import webbrowser

            webbrowser.open(server.launch_url())
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            say("ended")


def _has_screen() -> bool:
    """Whether a browser would open a window; on a server it might take the terminal instead."""
    return sys.platform in ("win32", "darwin") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
