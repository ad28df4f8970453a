"""AI tasks, platform tasks and the list of user actions."""

from datetime import datetime, timedelta, timezone

import gcore
import pytest


def test_ai_tasks(client, impatient, made):
    ai = client.streaming.ai_tasks
    ids = [
        ai.create(
            task_name="transcription", url="https://example.com/speech.mp4", audio_language="eng",
            client_user_id=made.unique, client_entity_data=made.unique,
        ).task_id,
        ai.create(
            task_name="content-moderation", category="nsfw", url="https://example.com/film.mp4", client_user_id=made.unique
        ).task_id,
    ]
    assert ai.get(task_id=ids[0]).status == "PENDING"
    found = ai.list(search=made.unique, limit=1, ordering="started_at")
    assert sorted(one.task_id for one in found) == sorted(ids)
    assert [one.task_id for one in ai.list(task_id=ids[1], task_name="content-moderation", status="PENDING")] == [ids[1]]
    assert ai.get_ai_settings(type="language_support", audio_language="eng", subtitles_language="eng").supported is not None
    for id in ids:
        ai.cancel(task_id=id)
    assert ai.get(task_id=ids[0]).status == "REVOKED"
    with pytest.raises(gcore.NotFoundError):
        impatient.streaming.ai_tasks.get(task_id="00000000-0000-4000-8000-000000000000")


def test_tasks(client, options):
    tasks = client.cloud.tasks
    finished = tasks.list(state=["FINISHED"], limit=1000, order_by="desc", task_type="create_network")
    assert finished and all(one.state == "FINISHED" for one in finished)
    assert tasks.get(task_id=finished[0].id).task_type == "create_network"
    assert tasks.acknowledge_one(task_id=finished[0].id).acknowledged_at
    assert tasks.acknowledge_all(project_id=options["cloud_project_id"]) is None


def test_user_actions(client):
    actions = client.cloud.audit_logs.list(limit=1000, order_by="desc")
    assert {one.action_type for one in actions} >= {"create", "delete"}


def test_costs(client, impatient):
    today = datetime.now(timezone.utc)
    days = {"time_from": today - timedelta(days=1), "time_to": today, "enable_last_day": True}
    reports = client.cloud.cost_reports
    totals = reports.get_aggregated(**days)
    assert totals.price_status == "show" and totals.count == len(totals.results)
    assert "volume" in {one.type for one in totals.results}
    detailed = reports.get_detailed(**days, limit=1000, order_by=["billing_value.desc", "type.asc"])
    [volume, *_] = [one for one in detailed.results if one.type == "volume"]
    assert volume.cost >= 0 and volume.billing_value > 0 and volume.size_unit == "GiB"
    month = reports.get_aggregated_monthly(year_month=f"{today:%Y-%m}", types=["volume"])
    assert {one.type for one in month.results} == {"volume"}
    standard = {"type": "volume", "field": "volume_type", "values": ["standard"]}
    usage = client.cloud.usage_reports.get(**days, schema_filter=standard)
    assert usage.count > 0 and [one.volume_type for one in usage.totals] == ["standard"]
    with pytest.raises(gcore.BadRequestError):
        impatient.cloud.cost_reports.get_aggregated(time_from=today - timedelta(days=40), time_to=today)
