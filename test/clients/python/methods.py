"""Every method of the SDK, and which of them an OpenAPI document serves.

`python methods.py openapi/gcore.json` counts them by family.
"""

import functools
import inspect
import json
import re
import sys
from collections import Counter

import gcore
from gcore._resource import SyncAPIResource

CALL = re.compile(r"self\._(get|post|put|patch|delete|get_api_list)\(\s*(?:path_template\(\s*)?f?\"([^\"]+)\"")
FACES = {"with_raw_response", "with_streaming_response"}


def _methods(resource, names=()):
    """Name, HTTP method and path of each method; helpers that call several have neither."""
    for name in dir(type(resource)):
        attribute = inspect.getattr_static(type(resource), name)
        if name.startswith("_") or name in FACES:
            continue
        if isinstance(attribute, functools.cached_property):
            child = getattr(resource, name)
            if isinstance(child, SyncAPIResource):
                yield from _methods(child, (*names, name))
        elif inspect.isfunction(attribute) and names:
            found = CALL.search(inspect.getsource(attribute))
            method, path = found.groups() if found else (None, None)
            yield ".".join([*names, name]), {"get_api_list": "get"}.get(method, method), path


def _shape(path):
    return re.sub(r"{[^}]*}", "{}", path)


def _all_methods():
    return list(_methods(gcore.Gcore(api_key="of nobody")))


def served_methods(document):
    """The names of the methods whose operation is in the document."""
    operations = {(method, _shape(path)) for path, found in document["paths"].items() for method in found}
    known = _all_methods()
    served = {name for name, method, path in known if path and (method, _shape(path)) in operations}
    return served | {f"{name}_and_poll" for name in served} & {name for name, _, _ in known}


def calls_by_path():
    """The HTTP methods that the SDK uses, by path."""
    calls = {}
    for _, method, path in _all_methods():
        if path:
            calls.setdefault(path, set()).add(method.upper())
    return {path: " ".join(sorted(calls[path])) for path in sorted(calls)}


def _family(name):
    return ".".join(name.split(".")[:-1][:2])


def by_family(served):
    """How many methods of each family are served, and how many there are."""
    counts = Counter(map(_family, served))
    return {
        family: f"{counts[family]} of {total}"
        for family, total in sorted(Counter(_family(name) for name, _, _ in _all_methods()).items())
    }


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        document = json.load(file)
    document["paths"] = {path.removeprefix("/gcore"): operations for path, operations in document["paths"].items()}
    print(json.dumps(by_family(served_methods(document)), indent=2))
