"""GCORE_BASE_URL and GCORE_API_KEY say which server, SDK_FACE which face of the SDK. The files run in order."""

import os
from types import SimpleNamespace

import pytest

from surface import surface

FACE = os.environ["SDK_FACE"]
CALLED: set[str] = set()


@pytest.fixture(scope="session")
def options():
    """A project of its own for each face, so that they can run side by side."""
    made = surface(FACE, CALLED).cloud.projects.create(name=f"sdk-{FACE}-{os.getpid()}")
    return {"cloud_project_id": made.id, "cloud_region_id": 1}


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
    return SimpleNamespace(unique=f"{FACE}-{os.getpid()}")


@pytest.fixture(scope="session")
def called():
    return CALLED
