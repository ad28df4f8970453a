"""GCORE_BASE_URL and GCORE_API_KEY say which server and account, SDK_FACE which face of the SDK.

LIMITED_BASE_URL and LIMITED_API_KEY are of a server that takes few requests, and TLS_BUNDLE is what a server needs. The files run in order.
"""

import json
import os
from types import SimpleNamespace

import gcore
import pytest

from surface import surface

FACE = os.environ["SDK_FACE"]
CALLED: set[str] = set()
SERVED = pytest.StashKey[dict]()
CALLS = pytest.StashKey[dict]()


@pytest.fixture(scope="session")
def options():
    project = surface(FACE, CALLED).cloud.projects.create(name="walk")
    return {"cloud_project_id": project.id, "cloud_region_id": 1}


@pytest.fixture(scope="session")
def client(options):
    return surface(FACE, CALLED, **options)


@pytest.fixture(scope="session")
def impatient(options):
    """Repeats nothing, so that a refusal is seen at once."""
    return surface(FACE, CALLED, **options, max_retries=0)


@pytest.fixture(scope="session")
def made():
    """What earlier steps made and later ones use."""
    return SimpleNamespace(unique=f"sdk-{FACE}-{os.getpid()}")


@pytest.fixture(scope="session")
def tls_bundle():
    """A certificate with its chain and key."""
    return json.loads(os.environ["TLS_BUNDLE"])


@pytest.fixture(scope="session")
def called():
    return CALLED


def pytest_terminal_summary(terminalreporter, config):
    """In the last line, for whoever started this run."""
    passed = len(terminalreporter.stats.get("passed", []))
    figures = {
        "version": gcore.__version__,
        "families": config.stash.get(SERVED, {}),
        "calls": config.stash.get(CALLS, {}),
        "passed": passed,
    }
    terminalreporter.write_line(json.dumps(figures))
