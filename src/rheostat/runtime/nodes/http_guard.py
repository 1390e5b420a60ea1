"""Guard of a web application: serves clients of this machine that have the token, and no browser."""

import hmac
from collections.abc import Awaitable, Callable

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse

from rheostat.errors import RheostatError

LOCAL_HOSTS = frozenset({"127.0.0.1", "localhost", "::1", "[::1]"})


def guarded_app(token: str, least_characters: int) -> FastAPI:
    """Without routes yet; what is refused or goes wrong is told as JSON with an `error`."""
    if len(token) < least_characters:
        raise ValueError(f"a token has at least {least_characters} characters")
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)

    @app.middleware("http")
    async def guard(request: Request, call: Callable[[Request], Awaitable[Response]]) -> Response:
        given = request.headers.get("authorization", "")
        if not hmac.compare_digest(given.encode(), f"Bearer {token}".encode()):
            return JSONResponse({"error": "the token is missing or wrong"}, 401)
        # A page of a browser has an origin; a name that resolves to loopback has another host.
        if request.headers.get("origin"):
            return JSONResponse({"error": "browsers are not served"}, 403)
        if (request.url.hostname or "") not in LOCAL_HOSTS:
            return JSONResponse({"error": "only this machine is served"}, 403)
        return await call(request)

    @app.exception_handler(RheostatError)
    async def told(_request: Request, error: RheostatError) -> JSONResponse:
        return JSONResponse({"error": str(error)}, 409)

    @app.exception_handler(ValueError)
    async def wrong(_request: Request, error: ValueError) -> JSONResponse:
        return JSONResponse({"error": str(error)}, 400)

    return app
