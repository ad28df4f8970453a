"""A pytest plugin for Tradewind's test kit. It needs nothing but Python and pytest.

Load it with ``pytest_plugins = ["tradewind_testing"]`` in conftest.py. TRADEWIND_URL and TRADEWIND_TOKEN say where the server
is, and who may reset it.
"""

import json
import os
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any

import pytest


@dataclass
class Answer:
    status: int
    headers: Any
    body: Any


class Tradewind:
    """Calls the API and its test kit."""

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

    def _kit(self, method: str, path: str, body: Any = None) -> Any:
        answer = self.call(method, f"/tradewind/v1/test{path}", body)
        if answer.status >= 300:
            raise AssertionError(f"{method} {path}: {answer.status} {answer.body}")
        return answer.body

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

    def ended(self, task_id: str) -> dict[str, Any]:
        """Waits until the task has ended."""
        while True:
            answer = self.call("GET", f"/v1/tasks/{task_id}", headers={"prefer": "wait=10"})
            if answer.status >= 300:
                raise AssertionError(f"task {task_id}: {answer.status} {answer.body}")
            if answer.body["state"] in ("FINISHED", "ERROR"):
                return answer.body


@pytest.fixture
def tradewind() -> Tradewind:
    """A server on which nothing has happened yet."""
    server = Tradewind(os.environ.get("TRADEWIND_URL", "http://127.0.0.1:8080"), os.environ["TRADEWIND_TOKEN"])
    server.reset()
    return server
