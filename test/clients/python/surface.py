"""One way to call the SDK for all its faces: synchronous, asynchronous, raw and streaming answers.

The scenario is written once. A surface looks a method up in the SDK, calls it, hands back plain values and
remembers its name; the SDK itself stays as it is, but for its rests.
"""

import asyncio
import time
from functools import reduce

import gcore
from gcore._base_client import BasePage
from gcore._resource import AsyncAPIResource, SyncAPIResource

OPTIONS = {"_strict_response_validation": True, "polling_interval_seconds": 1, "polling_timeout_seconds": 300}
PAUSE_SECONDS = 0.1


def _pause(resource, seconds):
    time.sleep(PAUSE_SECONDS)


async def _async_pause(resource, seconds):
    await asyncio.sleep(PAUSE_SECONDS)


# The SDK rests for a second at least between two looks at a task. Here tasks take a moment, and most of a walk was rest.
SyncAPIResource._sleep = _pause
AsyncAPIResource._sleep = _async_pause


class Surface:
    def __init__(self, client, called):
        self._client = client
        self.called = called

    def __getattr__(self, name):
        return _Name(self, [name])

    def _call(self, names, args, kwargs):
        *path, method = names
        self.called.add(".".join(names))
        return self._answer(reduce(getattr, path, self._client), method, args, kwargs)


class _Name:
    def __init__(self, surface, names):
        self._surface, self._names = surface, names

    def __getattr__(self, name):
        return _Name(self._surface, [*self._names, name])

    def __call__(self, *args, **kwargs):
        return self._surface._call(self._names, args, kwargs)


def _plain(answer):
    """A page becomes the list of all that its pages hold."""
    return list(answer) if isinstance(answer, BasePage) else answer


class Synchronous(Surface):
    def _answer(self, resource, method, args, kwargs):
        return _plain(getattr(resource, method)(*args, **kwargs))


def _polls(method):
    """Helpers that poll read parsed answers of their own, and have no raw form that works."""
    return method == "poll" or method.endswith("_and_poll")


class Raw(Synchronous):
    def _answer(self, resource, method, args, kwargs):
        if _polls(method):
            return super()._answer(resource, method, args, kwargs)
        answer = getattr(resource.with_raw_response, method)(*args, **kwargs)
        assert answer.headers["x-request-id"]
        return _plain(answer.parse())


class Streaming(Synchronous):
    def _answer(self, resource, method, args, kwargs):
        if _polls(method):
            return super()._answer(resource, method, args, kwargs)
        with getattr(resource.with_streaming_response, method)(*args, **kwargs) as answer:
            return _plain(answer.parse())


class Asynchronous(Surface):
    loop = asyncio.new_event_loop()

    def _answer(self, resource, method, args, kwargs):
        return self.loop.run_until_complete(self._awaited(getattr(resource, method)(*args, **kwargs)))

    @staticmethod
    async def _awaited(answer):
        if hasattr(answer, "__aiter__"):
            return [item async for item in answer]
        return await answer


FACES = {"sync": Synchronous, "raw": Raw, "streaming": Streaming, "async": Asynchronous}


def surface(face, called, **options):
    make = gcore.AsyncGcore if face == "async" else gcore.Gcore
    return FACES[face](make(**{**OPTIONS, **options}), called)
