"""The two pages of the server, each one file that loads nothing from elsewhere."""

import base64
import hashlib
import re
from functools import cache
from importlib.resources import files

from starlette.responses import Response

_INLINE = re.compile(r"<(style|script)>(.*?)</\1>", re.DOTALL)


@cache
def page(name: str) -> Response:
    """A page of `page/`, which the browser lets run its own script and talk to this server, and nothing else."""
    text = files("elman.serving").joinpath("page", f"{name}.html").read_text(encoding="utf-8")
    hashes: dict[str, list[str]] = {"style": [], "script": []}
    for kind, inside in _INLINE.findall(text):
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        hashes[kind].append(f"'sha256-{digest}'")
    policy = "; ".join(
        [
            "default-src 'none'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'",
            "frame-ancestors 'none'",
            *(f"{kind}-src {' '.join(found)}" for kind, found in hashes.items()),
        ]
    )
    headers = {"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}
    return Response(text, media_type="text/html", headers=headers)
