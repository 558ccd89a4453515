"""The routes of the server."""

import logging
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from elman import __version__
from elman.errors import ArtifactError, ConfigError, DataError, ElmanError
from elman.serving import forms
from elman.serving.gate import Gate
from elman.serving.metrics_text import CONTENT_TYPE
from elman.serving.pages import page
from elman.serving.request_error import RequestError
from elman.serving.service import Service

_LOG = logging.getLogger("elman.serving")
_REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": forms.ErrorAnswer, "description": about}
    for status, about in {
        400: "The body is no JSON.",
        404: "There is no such stream.",
        413: "The body, a text, or the number of texts is above its limit.",
        415: "The body is not application/json.",
        422: "A value is missing, unknown, of the wrong type, out of its range, or no text.",
        429: "As many as may be wait or are in work; Retry-After says when to ask again.",
        501: "The model that this needs is not served here.",
        504: "There was no answer in time.",
    }.items()
}


def make_app(service: Service, *, hosts: Collection[str] | None) -> Gate:
    """The server as an ASGI application.

    Args:
        service: What answers.
        hosts: Names by which the server may be called; None: any.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with service.running():
            yield

    app = FastAPI(
        title="elman", version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None, responses=_REFUSALS,
        description="Small recurrent text models over HTTP.",
    )  # fmt: skip
    _add_answers(app, service)
    _add_streams(app, service)
    _add_pages(app, service)
    _add_errors(app)
    routes = [path for route in app.routes if (path := getattr(route, "path", None))]
    return Gate(app, limits=service.limits, measures=service.measures, hosts=hosts, routes=routes)


def _add_answers(app: FastAPI, service: Service) -> None:
    @app.post("/classify", response_model=forms.ClassifyAnswer, summary="The class of each text")
    async def classify(form: forms.ClassifyForm) -> Response:
        return _list("classifications", await service.answer("classifier", form.texts))

    @app.post("/score", response_model=forms.ScoreAnswer, summary="How well each text is predicted")
    async def score(form: forms.ScoreForm) -> Response:
        return _list("scores", await service.answer("language_model", form.texts, tokens=form.tokens))

    @app.post(
        "/generate", response_class=Response, summary="Goes on with a text, in server-sent events",
        responses={200: {"content": {"text/event-stream": {}}, "description": "prompt, token, end, done or error"}},
    )  # fmt: skip
    async def generate(form: forms.GenerateForm) -> Response:
        return await service.generate(form)


def _add_streams(app: FastAPI, service: Service) -> None:
    @app.post("/streams", status_code=201, response_model=forms.StreamAnswer, summary="Begins a stream")
    async def begin(form: forms.StreamForm | None = None) -> Response:
        return JSONResponse(await service.open_stream(form.task if form else None), 201)

    read = forms.SurpriseAnswer | forms.ClassificationAnswer

    @app.post("/streams/{stream_id}/feed", response_model=read, summary="Gives a stream its next piece")
    async def feed(stream_id: str, form: forms.FeedForm) -> Response:
        return _json(await service.feed(stream_id, form.text))

    @app.post("/streams/{stream_id}/finish", response_model=read, summary="Ends the text; a new one may follow")
    async def finish(stream_id: str) -> Response:
        return _json(await service.feed(stream_id, None))

    @app.delete("/streams/{stream_id}", status_code=204, response_class=Response, summary="Ends a stream")
    async def delete(stream_id: str) -> Response:
        service.close_stream(stream_id)
        return Response(status_code=204)


def _add_pages(app: FastAPI, service: Service) -> None:
    @app.get("/health", response_model=forms.HealthAnswer, summary="Whether it works, and what is served")
    async def health() -> Response:
        models = {task: served.facts() for task, served in service.models.items()}
        status = "broken" if service.broken else "ok"
        values = {"status": status, "version": __version__, "models": models, "limits": service.limits.model_dump()}
        return JSONResponse(values, 503 if service.broken else 200)

    @app.get("/metrics", response_class=Response, summary="For Prometheus")
    async def metrics() -> Response:
        return Response(service.measures.text(), headers={"Content-Type": CONTENT_TYPE})

    @app.get("/", include_in_schema=False)
    async def index() -> Response:
        return page("index")

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        return page("docs")


def _add_errors(app: FastAPI) -> None:
    @app.exception_handler(RequestError)
    async def refused(_: Request, refusal: RequestError) -> Response:
        return refusal.response()

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> Response:
        return _invalid(error).response()

    @app.exception_handler(HTTPException)
    async def http(_: Request, error: HTTPException) -> Response:
        response = RequestError(error.status_code, f"{error.detail}; /docs lists the routes").response()
        response.headers.update(error.headers or {})
        return response

    @app.exception_handler(ElmanError)
    async def known(_: Request, error: ElmanError) -> Response:
        if isinstance(error, DataError | ConfigError):
            return RequestError(422, str(error)).response()
        if isinstance(error, ArtifactError):
            return RequestError(501, str(error)).response()
        _LOG.error("a request failed", exc_info=error)
        return RequestError(500, str(error)).response()

    @app.exception_handler(Exception)
    async def unknown(_: Request, _error: Exception) -> Response:
        return RequestError(500, "the server failed; its log says how").response()


def _invalid(error: RequestValidationError) -> RequestError:
    """What is wrong first, without the text that came."""
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return RequestError(400, f"the body is no JSON: {first['ctx']['error']} at character {first['loc'][-1]}")
    where = ".".join(str(part) for part in first["loc"] if part != "body") or "the body"
    return RequestError(422, f"{where}: {first['msg']}")


def _list(name: str, answers: list[bytes]) -> Response:
    return _json(b'{"' + name.encode() + b'": [' + b", ".join(answers) + b"]}")


def _json(body: bytes) -> Response:
    return Response(body, media_type="application/json")
