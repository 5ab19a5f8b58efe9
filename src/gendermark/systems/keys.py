"""Keys and the addresses they are sent to: keys come from the environment, and go to no one but their server."""

from __future__ import annotations

import base64
import ipaddress
import json
import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from gendermark.errors import UserError
from gendermark.systems.system import refuse_unknown_options

_SHORTEST_SECRET = 8
"""Anything shorter could be part of a text by chance: local servers are given keys like "none"."""
_LONGER_THAN_A_WORD = 20
_DIGIT = re.compile(r"\d")
_SIGNS = re.compile(r"[^0-9A-Za-z]+")
_SECRET_NAME = re.compile(r"(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD)$", re.IGNORECASE)
_SECRET_WORDS = re.compile(r"key|token|secret|password|auth|credential", re.IGNORECASE)


def read_secrets(family: str, required: Sequence[str] = (), optional: Sequence[str] = ()) -> dict[str, str]:
    """Keys, from the environment and nowhere else, by the names of their variables."""
    secrets = {name: os.environ.get(name, "").strip() for name in (*required, *optional)}
    for name in required:
        if not secrets[name]:
            raise UserError(f"{family}: needs a key, and takes it from the environment: set {name}")
    for name, value in secrets.items():
        if not (value.isascii() and value.isprintable()) or " " in value:
            raise UserError(f"{name} holds characters that no key has; set it again, without quotes or line breaks")
    return {name: value for name, value in secrets.items() if value}


def of_environment() -> dict[str, str]:
    """What looks like a key by the name of its variable and by itself; programs that we start can read them."""
    return {name: value for name, value in os.environ.items() if _SECRET_NAME.search(name) and _pieces(value, 1.0)}


def refuse_options(family: str, options: Mapping[str, str], known: Sequence[str], variable: str = "") -> None:
    """Refuse unknown options, and keys above all: options are written into run folders."""
    instead = f"set {variable} instead" if variable else "leave it out"
    for name in options:
        if name not in known and _SECRET_WORDS.search(name):
            raise UserError(f"{family}: takes no {name} as an option, where others could read it; {instead}")
    refuse_unknown_options(family, options, known)


def are_in(secrets: Mapping[str, str], texts: Iterable[str]) -> bool:
    """Whether a key stands in a text that others could read."""
    longer = [value for value in secrets.values() if len(value) >= _SHORTEST_SECRET]
    return any(value in text for text in texts for value in longer)


def is_repeated(secrets: Mapping[str, str], text: str) -> bool:
    """Whether an answer has a key in it, also one in other letters, with signs in between, encoded or cut a little."""
    forms = [_SIGNS.sub("", form).lower() for form in {text, unquote(text)}]
    pieces = [piece for value in secrets.values() for piece in _pieces(value, 0.75)]
    return any(piece in form for form in forms for piece in pieces)


def masked(secrets: Mapping[str, str], text: str) -> str:
    """A text without keys and without whatever is much like one."""
    for value in secrets.values():
        for form in (value, json.dumps(value)[1:-1], quote(value), quote(value, safe="")):
            text = text.replace(form, "***")
    places = [place for place, letter in enumerate(text) if letter.isascii() and letter.isalnum()]
    letters = "".join(text[place].lower() for place in places)
    hidden: set[int] = set()
    for value in secrets.values():
        for piece in _pieces(value, 0.5):
            start = letters.find(piece)
            while start >= 0:
                hidden.update(range(places[start], places[start + len(piece) - 1] + 1))
                start = letters.find(piece, start + 1)
    shown = "".join("\0" if place in hidden else letter for place, letter in enumerate(text))
    return re.sub("\0+", "***", shown)


def _pieces(secret: str, share: float) -> set[str]:
    """All parts of a key of this length, forwards, backwards and in base64; none of what could be a word."""
    encoded = base64.b64encode(secret.encode()).decode()
    forms = [_SIGNS.sub("", form).lower() for form in (secret, secret[::-1], encoded)]
    if len(forms[0]) < _SHORTEST_SECRET or not (_DIGIT.search(secret) or len(forms[0]) >= _LONGER_THAN_A_WORD):
        return set()
    found = set()
    for form in forms:
        width = max(_SHORTEST_SECRET, math.ceil(share * len(form)))
        found |= {form[start : start + width] for start in range(len(form) - width + 1)}
    return found


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def checked_url(family: str, url: str, secrets: Mapping[str, str], variable: str) -> str:
    """A server's address in one way of writing it. What is refused is not repeated: there may be a key in it."""
    import httpx

    try:
        parts = urlsplit(url.strip())
        port = parts.port
        httpx.URL(url.strip())
    except (ValueError, httpx.InvalidURL):
        raise UserError(f"{family}: was given a broken URL; write, for example, http://127.0.0.1:5000") from None
    host = (parts.hostname or "").lower()
    if parts.scheme.lower() not in ("http", "https") or not host:
        raise UserError(f"{family}: needs a URL with http:// or https://, for example http://127.0.0.1:5000")
    instead = f"set {variable} instead" if variable else "leave it out"
    if "@" in parts.netloc:
        raise UserError(f"{family}: takes no user name or password in the URL, where others could read it; {instead}")
    if are_in(secrets, [url]):
        raise UserError(f"{family}: takes no key in the URL, where others could read it; {instead}")
    if parts.query or parts.fragment:
        with_key = _SECRET_WORDS.search(parts.query) is not None
        advice = (
            f"takes no key in the URL, where others could read it; {instead}"
            if with_key
            else "takes a URL without ? and #"
        )
        raise UserError(f"{family}: {advice}")
    if parts.scheme.lower() == "http" and secrets and not is_loopback(host):
        raise UserError(
            f"{family}: would send the key in {variable} to {host} in the clear; use https://, or unset {variable}"
        )
    scheme, address = parts.scheme.lower(), f"[{host}]" if ":" in host else host
    if port not in (None, {"http": 80, "https": 443}[scheme]):
        address = f"{address}:{port}"
    return urlunsplit((scheme, address, parts.path.rstrip("/"), "", ""))
