"""Every method of the SDK whose operation the server publishes has been called."""

import os

import httpx

from conftest import CALLS, SERVED
from methods import by_family, calls, served_methods


def test_every_served_method_was_called(called, pytestconfig):
    served = served_methods(httpx.get(os.environ["GCORE_BASE_URL"] + "/openapi.json").json())
    assert served - called == set()
    assert len(served) > 150
    pytestconfig.stash[SERVED] = by_family(served)
    pytestconfig.stash[CALLS] = calls()
