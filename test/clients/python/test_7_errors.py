"""Each refusal as the exception that the SDK has for it, repeats and time-outs."""

import os
import socket

import gcore
import pytest

import surface
from conftest import CALLED, FACE


def other(options, **more):
    return surface.surface(FACE, CALLED, **{**options, "max_retries": 0, **more})


def test_statuses(impatient, options, made):
    keys = impatient.cloud.ssh_keys
    with pytest.raises(gcore.AuthenticationError):
        other(options, api_key="7_wrong").cloud.projects.list()
    with pytest.raises(gcore.BadRequestError) as refused:
        keys.create(name="")
    assert refused.value.body["invalid_fields"]["name"]
    with pytest.raises(gcore.ConflictError):
        keys.create(name=made.key)
    with pytest.raises(gcore.NotFoundError):
        keys.get(ssh_key_id="00000000-0000-4000-8000-000000000000")
    once = {"extra_headers": {"idempotency-key": made.unique}}
    made_once = keys.create(name="walk once", **once)
    with pytest.raises(gcore.ConflictError):
        keys.create(name="walk once", **once)
    with pytest.raises(gcore.UnprocessableEntityError):
        keys.create(name="walk twice", **once)
    keys.delete(ssh_key_id=made_once.id)


def test_a_role_that_may_not(client, options, made):
    token = client.iam.api_tokens.create(
        client_id=made.client_id, name="reader", exp_date=None, client_user={"role": {"id": 2, "name": "Users"}}
    )
    reader = other(options, api_key=token.token)
    assert reader.cloud.projects.list()
    with pytest.raises(gcore.PermissionDeniedError):
        reader.cloud.ssh_keys.create(name="walk reader")


def test_too_often(options):
    limited = {"base_url": os.environ["LIMITED_BASE_URL"], "api_key": os.environ["LIMITED_API_KEY"]}
    hasty, patient = other(options, **limited), other(options, **limited, max_retries=5)
    with pytest.raises(gcore.RateLimitError):
        for _ in range(1000):
            hasty.cloud.projects.list()
    assert patient.cloud.projects.list()


def test_a_lost_server(options):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        nowhere = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(gcore.APITimeoutError):
            other(options, base_url=nowhere, timeout=0.2).cloud.projects.list()
    with pytest.raises(gcore.APIConnectionError):
        other(options, base_url="http://127.0.0.1:9").cloud.projects.list()


def test_what_is_not_served(impatient):
    with pytest.raises(gcore.NotFoundError):
        impatient.cloud.registries.list()


def test_conflicts_are_repeated_until_the_task_has_gone(client, options, made):
    patient = other(options, max_retries=5)
    volume = client.cloud.volumes.create_and_poll(source="new-volume", name="walk busy", size=1)
    [task] = client.cloud.volumes.resize(volume_id=volume.id, size=2).tasks
    [second] = patient.cloud.volumes.resize(volume_id=volume.id, size=3).tasks
    assert client.cloud.tasks.poll(task).state == client.cloud.tasks.poll(second).state == "FINISHED"
    assert client.cloud.volumes.get(volume_id=volume.id).size == 3
    client.cloud.volumes.delete_and_poll(volume_id=volume.id)
