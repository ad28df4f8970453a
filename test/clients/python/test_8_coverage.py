"""Every method of the SDK whose operation the server publishes has been called."""

import functools
import inspect
import os
import re

import gcore
import httpx
from gcore._resource import SyncAPIResource

from conftest import CALLS, SERVED

CALL = re.compile(r"self\._(get|post|put|patch|delete|get_api_list)\(\s*(?:path_template\(\s*)?f?\"([^\"]+)\"")
FACES = {"with_raw_response", "with_streaming_response"}


def methods(resource, names=()):
    """Name, HTTP method and path of each method; helpers that call several have neither."""
    for name in dir(type(resource)):
        attribute = inspect.getattr_static(type(resource), name)
        if name.startswith("_") or name in FACES:
            continue
        if isinstance(attribute, functools.cached_property):
            child = getattr(resource, name)
            if isinstance(child, SyncAPIResource):
                yield from methods(child, (*names, name))
        elif inspect.isfunction(attribute) and names:
            found = CALL.search(inspect.getsource(attribute))
            method, path = found.groups() if found else (None, None)
            yield ".".join([*names, name]), {"get_api_list": "get"}.get(method, method), path


def shape(path):
    return re.sub(r"{[^}]*}", "{}", path)


def test_every_served_method_was_called(called, pytestconfig):
    document = httpx.get(os.environ["GCORE_BASE_URL"] + "/openapi.json").json()
    served = {(method, shape(path)) for path, operations in document["paths"].items() for method in operations}
    known = list(methods(gcore.Gcore()))
    wanted = {name for name, method, path in known if path and (method, shape(path)) in served}
    wanted |= {f"{name}_and_poll" for name in wanted} & {name for name, _, _ in known}
    assert wanted - called == set()
    assert len(wanted) > 150
    pytestconfig.stash[SERVED] = len(wanted)
    calls = {}
    for _, method, path in known:
        if path:
            calls.setdefault(path, set()).add(method.upper())
    pytestconfig.stash[CALLS] = {path: " ".join(sorted(calls[path])) for path in sorted(calls)}
