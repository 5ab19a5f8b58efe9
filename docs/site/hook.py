"""MkDocs hooks: add the generated reference pages and two files of the repository root."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

import reference
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ABOVE = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
"""Files of the repository root, and their names on the site."""
_CODE = re.compile(r"`[^`\n]+`")
_LINK = re.compile(r"\]\(([^)#:\s]+\.(?:md|ipynb))(?=[)#])")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    made = reference.pages({file.src_uri for file in files.documentation_pages()})
    root = Path(config.config_file_path).parent
    made |= {name: (root / path).read_text(encoding="utf-8") for path, name in ABOVE.items()}
    for name, text in made.items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Adapt links to files of the repository root, and bars in table cells, which code hosts need escaped."""
    folder = posixpath.dirname(page.file.src_uri)
    is_from_above = page.file.src_uri in ABOVE.values()

    def moved(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join("docs", folder, link[1]))
        if is_from_above:
            target = posixpath.normpath(link[1])
        inside = ABOVE.get(target, target.removeprefix("docs/"))
        return f"]({posixpath.relpath(inside, folder or '.')}"

    return _CODE.sub(lambda code: code[0].replace("\\|", "|"), _LINK.sub(moved, markdown))
