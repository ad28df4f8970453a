import urllib.error
from http.client import RemoteDisconnected

import pytest

VOLUMES = "/cloud/v1/volumes/1/1"
NEW_VOLUME = {"source": "new-volume", "name": "data", "size": 1}


def start_volume(tradewind):
    return tradewind.call("POST", VOLUMES, NEW_VOLUME).body[0]


def volumes(tradewind):
    return tradewind.call("GET", VOLUMES).body["count"]


def test_a_request_that_is_refused_for_a_while_is_repeated(tradewind):
    tradewind.add_fault({"status": 503, "retry_after": 1}, operation="createVolume", times=1)
    refused = tradewind.call("POST", VOLUMES, NEW_VOLUME)
    assert (refused.status, refused.headers["retry-after"]) == (503, "1")
    assert tradewind.call("POST", VOLUMES, NEW_VOLUME).status == 200
    assert tradewind.fault_hits() == [1]


def test_an_answer_that_is_lost_leaves_the_volume_there(tradewind):
    tradewind.add_fault({"drop": "after_commit"}, operation="createVolume")
    with pytest.raises((RemoteDisconnected, ConnectionError, urllib.error.URLError)):
        tradewind.call("POST", VOLUMES, NEW_VOLUME)
    assert volumes(tradewind) == 1


def test_a_task_that_fails_and_one_that_is_held(tradewind):
    tradewind.add_fault({"fail": "no space left"}, task="create_volume", nth=1)
    held = tradewind.add_fault({"hold": True}, kind="volume", nth=2)
    assert tradewind.ended(start_volume(tradewind))["state"] == "ERROR"
    task = start_volume(tradewind)
    tradewind.remove_fault(held)
    assert tradewind.ended(task)["state"] == "FINISHED"


def test_tasks_that_a_test_ends_itself(tradewind):
    tradewind.set_speed(0.01)
    one, other = start_volume(tradewind), start_volume(tradewind)
    tradewind.finish_task(one)
    tradewind.fail_task(other, "for the test")
    assert tradewind.ended(one)["state"] == "FINISHED"
    assert tradewind.ended(other)["error"] == "for the test"


def test_the_clock(tradewind):
    assert tradewind.set_clock(at="2027-03-01T00:00:00Z", running=False)["at"].startswith("2027-03-01")
    group = tradewind.call("POST", "/cloud/v1/securitygroups/1/1", {"security_group": {"name": "of-march"}})
    assert group.body["created_at"].startswith("2027-03-01")


def test_a_snapshot(tradewind):
    tradewind.take_snapshot("empty")
    tradewind.ended(start_volume(tradewind))
    tradewind.restore_snapshot("empty")
    assert volumes(tradewind) == 0
    tradewind.remove_snapshot("empty")


def test_two_accounts_that_do_not_see_each_other(tenant, tradewind_server):
    path = f"/cloud/v1/volumes/{tenant.project_id}/1"
    task = tenant.must("POST", path, NEW_VOLUME)[0]
    assert tenant.ended(task)["state"] == "FINISHED"
    assert tradewind_server.make_tenant().call("GET", path).status == 404
