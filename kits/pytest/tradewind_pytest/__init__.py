"""A pytest plugin for Tradewind's test kit: the fixtures ``tradewind``, a server after a reset, and ``tenant``, an account of
the test's own.

TRADEWIND_URL and TRADEWIND_TOKEN, or GCORE_BASE_URL and GCORE_API_KEY, name a server. Without them one is started for the run, by
TRADEWIND_COMMAND, by default ``npx --yes tradewind``, within TRADEWIND_READY_SECONDS, by default 180.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

STOP_SECONDS = 60


@dataclass
class Answer:
    status: int
    headers: Any
    body: Any


class Client:
    """Calls the API of a server as one account."""

    def __init__(self, url: str, token: str) -> None:
        self.url = url
        self.token = token

    def call(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Answer:
        """Sends a request; answers with any status are returned."""
        request = urllib.request.Request(
            self.url + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"authorization": f"apikey {self.token}", "content-type": "application/json", **(headers or {})},
        )
        if body is None:
            request.remove_header("Content-type")
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return self._answer(response.status, response)
        except urllib.error.HTTPError as error:
            return self._answer(error.code, error)

    @staticmethod
    def _answer(status: int, response: Any) -> Answer:
        text = response.read()
        return Answer(status, response.headers, json.loads(text) if text else None)

    def must(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Any:
        """Sends a request, and returns the body of the answer. A refusal fails the test."""
        answer = self.call(method, path, body, headers)
        if answer.status >= 300:
            raise AssertionError(f"{method} {path}: {answer.status} {answer.body}")
        return answer.body

    def ended(self, task_id: str) -> dict[str, Any]:
        """Waits until the task has ended."""
        while True:
            task = self.must("GET", f"/v1/tasks/{task_id}", headers={"prefer": "wait=10"})
            if task["state"] in ("FINISHED", "ERROR"):
                return task


class Tenant(Client):
    """An account with a project of its own, which others don't see."""

    def __init__(self, url: str, token: str, client_id: int, project_id: int) -> None:
        super().__init__(url, token)
        self.client_id = client_id
        self.project_id = project_id


class Tradewind(Client):
    """The administrator of a server with TRADEWIND_TEST_API=true."""

    def _kit(self, method: str, path: str, body: Any = None) -> Any:
        return self.must(method, f"/tradewind/v1/test{path}", body)

    def make_tenant(self, company: str | None = None) -> Tenant:
        """Makes an account with an administrator's token."""
        client_id = self.must("POST", "/iam/clients/create", {"company": company or f"test {uuid.uuid4()}"})["id"]
        wish = {"name": "test", "exp_date": None, "client_user": {"role": {"name": "Administrators"}}}
        token = self.must("POST", f"/iam/v2/clients/{client_id}/tokens", wish)["token"]
        projects = Client(self.url, token).must("GET", "/cloud/v1/projects")["results"]
        return Tenant(self.url, token, client_id, projects[0]["id"])

    def reset(self) -> None:
        """Everything is as when the server had started: also the clock, and there are no faults."""
        self._kit("POST", "/reset", {"scope": "all"})

    def take_snapshot(self, name: str) -> None:
        self._kit("POST", "/snapshots", {"name": name})

    def restore_snapshot(self, name: str) -> None:
        self._kit("POST", f"/snapshots/{name}/restore")

    def remove_snapshot(self, name: str) -> None:
        self._kit("DELETE", f"/snapshots/{name}")

    def add_fault(self, do: dict[str, Any], **where: Any) -> int:
        """Returns the fault's id. Fields of ``where`` that are left out match everything."""
        return self._kit("POST", "/faults", {**where, "do": do})["id"]

    def remove_fault(self, fault_id: int) -> None:
        self._kit("DELETE", f"/faults/{fault_id}")

    def fault_hits(self) -> list[int]:
        return [fault["hits"] for fault in self._kit("GET", "/faults")["results"]]

    def set_clock(self, **to: Any) -> dict[str, Any]:
        """``at`` (RFC 3339), ``advance_s`` or ``running``."""
        return self._kit("POST", "/clock", to)

    def set_speed(self, speed: float) -> None:
        self._kit("POST", "/simulation", {"speed": speed})

    def finish_task(self, task_id: str) -> None:
        self._kit("POST", f"/tasks/{task_id}/finish")

    def fail_task(self, task_id: str, reason: str) -> None:
        self._kit("POST", f"/tasks/{task_id}/fail", {"reason": reason})


def _named() -> Tradewind | None:
    env = os.environ
    url = env.get("TRADEWIND_URL") or re.sub(r"/gcore/?$", "", env.get("GCORE_BASE_URL", ""))
    return Tradewind(url.rstrip("/"), env.get("TRADEWIND_TOKEN") or env.get("GCORE_API_KEY", "")) if url else None


@pytest.fixture(scope="session")
def tradewind_server() -> Iterator[Tradewind]:
    """The server that the environment names, or else one with an empty database that is started for the run."""
    named = _named()
    if named:
        yield named
        return
    settings = {
        "TRADEWIND_SIMULATION_SPEED": "1000",
        "TRADEWIND_RATE_LIMIT": "0",
        "TRADEWIND_AI_CONCURRENCY": "0",
        "TRADEWIND_DURABILITY": "relaxed",
    }
    env = {**settings, **os.environ}
    command = env.pop("TRADEWIND_COMMAND", "npx --yes tradewind")
    seconds = float(env.pop("TRADEWIND_READY_SECONDS", "180"))
    # It would be emptied by each reset.
    env.pop("DATABASE_URL", None)
    folder = Path(tempfile.mkdtemp(prefix="tradewind-"))
    token = f"1_{secrets.token_hex(32)}"
    env["TRADEWIND_TEST_API"] = "true"
    env["TRADEWIND_PORT"] = "0"
    env["TRADEWIND_DATA_DIR"] = str(folder / "data")
    env["TRADEWIND_BOOTSTRAP_TOKEN"] = token
    log = folder / "log"
    with log.open("wb") as output:
        server = subprocess.Popen(
            f"exec {command} serve", shell=True, env=env, stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
    try:
        yield Tradewind(_ready(server, log, command, seconds), token)
    finally:
        _stop(server, folder, command)


def _stop(server: subprocess.Popen[bytes], folder: Path, command: str) -> None:
    server.terminate()
    begun = time.monotonic()
    # npx ends before what it has started.
    while server.poll() is None or (folder / "data/postgres/postmaster.pid").exists():
        if time.monotonic() - begun > STOP_SECONDS:
            server.kill()
            said = (folder / "log").read_text(encoding="utf-8")
            raise RuntimeError(f'"{command} serve" has not stopped within {STOP_SECONDS} seconds:\n{said}')
        time.sleep(0.05)
    shutil.rmtree(folder, ignore_errors=True)


def _ready(server: subprocess.Popen[bytes], log: Path, command: str, seconds: float) -> str:
    begun = time.monotonic()
    while True:
        # Looked at first, so that all is read of a server that has ended.
        over = server.poll() is not None
        said = log.read_text(encoding="utf-8")
        found = re.search(r"Tradewind is ready at (\S+)", said)
        if found:
            return found[1]
        if over:
            raise RuntimeError(f'"{command} serve" ended:\n{said}')
        if time.monotonic() - begun > seconds:
            raise RuntimeError(f'"{command} serve" was not ready within {seconds:g} seconds:\n{said}')
        time.sleep(0.05)


@pytest.fixture
def tradewind(tradewind_server: Tradewind) -> Tradewind:
    """The server after a reset: nothing has happened yet. Such tests must not run at the same time."""
    tradewind_server.reset()
    return tradewind_server


@pytest.fixture
def tenant(tradewind_server: Tradewind) -> Tenant:
    """An account of its own for the test. Such tests may run at the same time."""
    return tradewind_server.make_tenant()
