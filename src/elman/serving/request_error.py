"""A request that is not answered, with the reason."""

import json

from starlette.responses import Response


class RequestError(Exception):
    """What a client is told instead of an answer.

    Args:
        status: Of HTTP.
        message: Which thing is wrong, what is allowed, what came; never the text that came itself.
        retry_after: Seconds after which the same request may be taken.
        close: Whether the connection ends with it.
    """

    def __init__(self, status: int, message: str, *, retry_after: int | None = None, close: bool = False) -> None:
        super().__init__(message)
        self.status, self.message, self.retry_after, self.close = status, message, retry_after, close

    def response(self) -> Response:
        """A JSON object with `error`."""
        headers = {"Retry-After": str(self.retry_after)} if self.retry_after is not None else {}
        if self.close:
            headers["Connection"] = "close"
        body = json.dumps({"error": self.message})
        return Response(body, self.status, headers=headers, media_type="application/json")
