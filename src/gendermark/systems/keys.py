"""Keys and the addresses they are sent to: keys come from the environment, and go only to their server."""

from __future__ import annotations

import ipaddress
import json
import os
import re
from collections.abc import Mapping, Sequence
from urllib.parse import quote, quote_plus, urlsplit, urlunsplit

from gendermark.errors import UserError
from gendermark.systems.system import refuse_unknown_options

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
            raise UserError(f"{name} has characters that no key has; set it again, without quotes or line breaks")
    return {name: value for name, value in secrets.items() if value}


def of_environment() -> dict[str, str]:
    """Variables that hold a key by their name and their value; programs that we start can read them."""
    return {name: value for name, value in os.environ.items() if _SECRET_NAME.search(name) and _is_no_word(value)}


def refuse_options(family: str, options: Mapping[str, str], known: Sequence[str], variable: str = "") -> None:
    """Refuse unknown options, and keys above all: options are written into run folders."""
    for name in options:
        if name not in known and _SECRET_WORDS.search(name):
            raise UserError(f"{family}: takes no {name} as an option, where others could read it; {_instead(variable)}")
    refuse_unknown_options(family, options, known)


def are_in(secrets: Mapping[str, str], *texts: str) -> bool:
    """Whether a key is in a text that others could read, as it is or URL-encoded."""
    forms = [form for value in secrets.values() if _is_no_word(value) for form in _forms(value)]
    return any(form in text for text in texts for form in forms)


def masked(secrets: Mapping[str, str], text: str) -> str:
    """A text with *** in place of keys, as they are and URL-encoded."""
    for form in sorted({form for value in secrets.values() for form in _forms(value)}, key=len, reverse=True):
        text = text.replace(form, "***")
    return text


def _forms(value: str) -> set[str]:
    return {value, json.dumps(value)[1:-1], quote(value), quote(value, safe=""), quote_plus(value)}


def _is_no_word(value: str) -> bool:
    """Whether a key could not be part of a text by chance: local servers are given keys like "none"."""
    return len(value) >= 20 or (len(value) >= 8 and any(map(str.isdigit, value)))


def _instead(variable: str) -> str:
    return f"set {variable} instead" if variable else "leave it out"


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def checked_url(family: str, url: str, secrets: Mapping[str, str], variable: str) -> str:
    """A server's address in one way of writing it. A refused one is not repeated: there may be a key in it."""
    import httpx

    try:
        parts = urlsplit(url.strip())
        port = parts.port
        httpx.URL(url.strip())
    except (ValueError, httpx.InvalidURL):
        raise UserError(f"{family}: was given an invalid URL; write, for example, http://127.0.0.1:5000") from None
    scheme, host = parts.scheme.lower(), (parts.hostname or "").lower()
    if scheme not in ("http", "https") or not host:
        raise UserError(f"{family}: needs a URL with http:// or https://, for example http://127.0.0.1:5000")
    if "@" in parts.netloc or are_in(secrets, url) or _SECRET_WORDS.search(parts.query):
        raise UserError(
            f"{family}: takes no key or password in the URL, where others could read it; {_instead(variable)}"
        )
    if parts.query or parts.fragment:
        raise UserError(f"{family}: takes a URL without ? and #")
    if scheme == "http" and secrets and not is_loopback(host):
        raise UserError(
            f"{family}: would send the key in {variable} to {host} in the clear; use https://, or unset {variable}"
        )
    address = f"[{host}]" if ":" in host else host
    if port not in (None, {"http": 80, "https": 443}[scheme]):
        address = f"{address}:{port}"
    return urlunsplit((scheme, address, parts.path.rstrip("/"), "", ""))
