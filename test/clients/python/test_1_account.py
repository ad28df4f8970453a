"""Account, projects, regions and SSH keys."""

import os

import gcore
import httpx
import pytest


def test_the_account_and_its_users(client, impatient, made):
    made.client_id = client.iam.get_account_overview().id
    users = client.iam.users
    invited = [
        users.invite(
            client_id=made.client_id,
            email=f"{name}-{made.unique}@example.com",
            user_role={"id": 5, "name": "Engineers"},
            name="Invited",
        )
        for name in ("one", "two")
    ]
    first, second = [one.user_id for one in invited]
    assert all(one.status for one in invited)
    assert {one.id for one in users.list(limit=1)} >= {first, second}
    assert users.update(user_id=first, name="Walker", lang="en").name == "Walker"
    assert users.get(user_id=first).name == "Walker"
    users.delete(user_id=second, client_id=made.client_id)
    assert second not in [one.id for one in users.list()]
    with pytest.raises(gcore.NotFoundError):
        impatient.iam.users.get(user_id=2**50)


def test_api_tokens(client, impatient, made):
    tokens = client.iam.api_tokens
    token = tokens.create(
        client_id=made.client_id,
        name=made.unique,
        description="made by the SDK",
        exp_date="2099-01-01T00:00:00+00:00",
        client_user={"role": {"id": 1, "name": "Administrators"}},
    )
    assert token.token
    [kept] = [one for one in tokens.list(client_id=made.client_id, deleted=False) if one.name == made.unique]
    assert tokens.get(client_id=made.client_id, token_id=kept.id).description == "made by the SDK"
    assert tokens.delete(client_id=made.client_id, token_id=kept.id) is None
    with pytest.raises(gcore.NotFoundError):
        impatient.iam.api_tokens.get(client_id=made.client_id, token_id=2**40)


def test_projects(client, impatient, options):
    project = client.cloud.projects.get()
    assert project.id == options["cloud_project_id"]
    assert client.cloud.projects.update(description="walked through").description == "walked through"
    names = [one.name for one in client.cloud.projects.list(limit=1, order_by="name.asc")]
    assert project.name in names and names == sorted(names)
    spare = client.cloud.projects.create(name=f"{project.name} spare")
    [task] = client.cloud.projects.delete(project_id=spare.id).tasks
    assert client.cloud.tasks.poll(task).state == "FINISHED"
    with pytest.raises(gcore.NotFoundError):
        impatient.cloud.projects.get(project_id=2**40)


def test_role_assignments(client, impatient, options, made):
    role_assignments = client.cloud.users.role_assignments
    invited = client.iam.users.invite(
        client_id=made.client_id,
        email=f"three-{made.unique}@example.com",
        user_role={"id": 2, "name": "Users"},
    )
    # The SDK has no method for it.
    joining = {"token": invited.invitation_token, "password": "many small green apples"}
    httpx.post(os.environ["GCORE_BASE_URL"] + "/iam/auth/accept_invitation", json=joining).raise_for_status()
    whom = {"user_id": invited.user_id, "client_id": made.client_id, "project_id": options["cloud_project_id"]}
    assignment = role_assignments.create(role="Observer", **whom)
    assert (assignment.role, assignment.user_id, assignment.project_id) == ("Observer", whom["user_id"], whom["project_id"])
    with pytest.raises(gcore.ConflictError):
        impatient.cloud.users.role_assignments.create(role="User", **whom)
    assert role_assignments.update(assignment.id, role="User", **whom).assignment_id == assignment.id
    [kept] = role_assignments.list(project_id=whom["project_id"], user_id=whom["user_id"])
    assert (kept.id, kept.role) == (assignment.id, "User")
    assert role_assignments.delete(assignment.id).assignment_id == assignment.id
    assert role_assignments.list(user_id=whom["user_id"]) == []


def test_quotas(client, impatient, made):
    quotas = client.cloud.quotas
    everything = quotas.get_all()
    assert everything.global_quotas.project_count_usage >= 1
    regional = quotas.get_by_region(client_id=made.client_id)
    assert regional.vm_count_limit >= regional.vm_count_usage
    assert quotas.get_global(client_id=made.client_id).to_dict() == everything.global_quotas.to_dict()
    threshold = quotas.notification_threshold
    assert threshold.update(client_id=made.client_id, threshold=95).threshold == 95
    assert threshold.get(client_id=made.client_id).threshold == 95
    assert threshold.delete(client_id=made.client_id) is None
    assert threshold.get(client_id=made.client_id).threshold == 80
    wish = {"regional_limits": [{"region_id": 1, "vm_count_limit": 2000}]}
    assert quotas.requests.create(description="walk", requested_limits=wish) is None
    [asked] = quotas.requests.list(status=["in progress"], created_from="2020-01-01T00:00:00Z")
    assert asked.requested_limits.regional_limits[0].vm_count_limit == 2000
    assert quotas.requests.get(request_id=asked.id).status == "in progress"
    assert quotas.requests.delete(request_id=asked.id) is None
    with pytest.raises(gcore.NotFoundError):
        impatient.cloud.quotas.requests.get(request_id=asked.id)


def test_regions(client):
    [region] = client.cloud.regions.list(limit=1, order_by="display_name.asc", show_volume_types=True)[:1]
    read = client.cloud.regions.get(region_id=region.id, show_volume_types=True)
    assert read.display_name == region.display_name
    assert [one.id for one in client.cloud.regions.list(display_name=region.display_name)] == [region.id]


def test_ssh_keys(client, impatient, made):
    keys = client.cloud.ssh_keys
    key = keys.create(name="walk key")
    assert key.private_key
    with pytest.raises(gcore.ConflictError):
        impatient.cloud.ssh_keys.create(name="walk key")
    assert not keys.update(ssh_key_id=key.id, shared_in_project=False).shared_in_project
    assert keys.update(ssh_key_id=key.id, shared_in_project=True).shared_in_project
    assert keys.get(ssh_key_id=key.id).fingerprint == key.fingerprint
    spare = keys.create(name="walk spare", public_key=key.public_key)
    assert {one.name for one in keys.list(limit=1, order_by="name.desc")} == {"walk key", "walk spare"}
    assert keys.delete(ssh_key_id=spare.id) is None
    made.key = key.name
