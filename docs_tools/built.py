"""What is wrong with the built site, whatever made it: links that lead nowhere, and parts that come from elsewhere."""

import posixpath
import re
from pathlib import Path
from urllib.parse import unquote

_TARGET = re.compile(r"<(?:a|link|script|img|source|iframe)\b[^>]*?\s(?:href|src)=[\"']?([^\"'\s>]+)")
_ID = re.compile(r"\s(?:id|name)=[\"']?([^\"'\s>]+)")
_LOADED = re.compile(r"<(?:script|img|iframe|source|video)\b[^>]*?\ssrc=[\"']?([^\"'\s>]+)")
_LINK = re.compile(r"<link\b[^>]*>")
_FETCHING = re.compile(r"\brel=[\"']?(?:stylesheet|icon|preconnect|preload|prefetch|modulepreload)")


def broken_links(site: Path) -> list[str]:
    """Links and pictures of any page of the site whose file or anchor is not there."""
    pages = {path.relative_to(site).as_posix(): path.read_text(encoding="utf-8") for path in site.rglob("*.html")}
    anchors = {name: set(_ID.findall(text)) for name, text in pages.items()}
    found = []
    for name, text in sorted(pages.items()):
        if name == "404.html":  # its links are for the root of a server
            continue
        for target in sorted(set(_TARGET.findall(text))):
            if re.match(r"[a-z][a-z+.-]*:|//", target):
                continue
            path, _, fragment = unquote(target).partition("#")
            there = posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else name
            if not (site / there).exists():
                found.append(f"{name}: {target}: no such file")
            elif fragment and not fragment.startswith("__") and fragment not in anchors.get(there, {fragment}):
                found.append(f"{name}: {target}: no such heading")
    return found


def loaded_from_elsewhere(html: str) -> list[str]:
    """Addresses on other machines from which a browser would fetch scripts, styles, fonts or pictures by itself."""
    addresses = _LOADED.findall(html)
    for link in filter(_FETCHING.search, _LINK.findall(html)):
        addresses += re.findall(r"\bhref=[\"']?([^\"'\s>]+)", link)
    addresses += re.findall(r"url\([\"']?([^)\"']+)", html)
    return [address for address in addresses if re.match(r"(?:https?:)?//", address)]
