"""Photographs the report of `gendermark demo` for the README: docs/pictures/report-finding.png.

    python docs/pictures/report_page.py

Needs Chromium (`GENDERMARK_CHROMIUM` names another program).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

PICTURE = Path(__file__).with_name("report-finding.png")
COMMAND = "from gendermark.cli.app import main; main()"


def main() -> None:
    program = os.environ.get("GENDERMARK_CHROMIUM", "chromium")
    with tempfile.TemporaryDirectory() as place:
        subprocess.run([sys.executable, "-c", COMMAND, "demo", "-o", place], check=True, capture_output=True)
        page = (Path(place) / "report.html").as_uri()
        look = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1200,900"]
        subprocess.run(
            [program, *look, f"--user-data-dir={place}/profile", f"--screenshot={PICTURE}", page],
            check=True,
            capture_output=True,
        )


if __name__ == "__main__":
    main()
