"""Volumes, snapshots, images and file shares."""

import time

import gcore
import pytest


def test_volumes(client, impatient, made):
    volumes = client.cloud.volumes
    volume = volumes.create_and_poll(source="new-volume", name="walk disk", size=5, type_name="standard", tags={"a": "b"})
    assert (volume.size, volume.status) == (5, "available")
    [task] = volumes.create(source="new-volume", name="walk disk two", size=1).tasks
    second = client.cloud.tasks.poll(task).created_resources.volumes[0]
    assert [one.id for one in volumes.list(name_part="disk two", limit=1)] == [second]
    assert volumes.update(volume_id=second, name="walk disk 2", tags={"c": "d"}).name == "walk disk 2"
    assert volumes.resize_and_poll(volume_id=volume.id, size=6).size == 6
    [task] = volumes.resize(volume_id=volume.id, size=7).tasks
    client.cloud.tasks.poll(task)
    assert volumes.change_type(volume_id=second, volume_type="ssd_hiiops").volume_type == "ssd_hiiops"
    with pytest.raises(gcore.BadRequestError):
        impatient.cloud.volumes.resize(volume_id=volume.id, size=1)
    made.volume, made.second_volume = volumes.get(volume_id=volume.id).id, second


def test_snapshots(client, impatient, made):
    snapshots, volumes = client.cloud.volume_snapshots, client.cloud.volumes
    snapshot = snapshots.create_and_poll(name="walk snapshot", volume_id=made.volume, description="walk")
    assert snapshots.update(snapshot_id=snapshot.id, name="walk snap").name == "walk snap"
    restored = volumes.create_and_poll(source="snapshot", name="walk restored", size=7, snapshot_id=snapshot.id)
    volumes.delete_and_poll(volume_id=restored.id)
    [task] = snapshots.create(name="walk snapshot two", volume_id=made.volume).tasks
    second = client.cloud.tasks.poll(task).created_resources.snapshots[0]
    assert {one.id for one in snapshots.list(volume_id=made.volume, limit=1)} == {snapshot.id, second}
    snapshots.delete_and_poll(snapshot_id=second)
    assert volumes.revert_to_last_snapshot(volume_id=made.volume) is None
    # It answers no task, so the volume has to say when it is done.
    end = time.monotonic() + 120
    while volumes.get(volume_id=made.volume).status != "available":
        assert time.monotonic() < end
        time.sleep(0.2)
    [task] = snapshots.delete(snapshot_id=snapshot.id).tasks
    client.cloud.tasks.poll(task)
    with pytest.raises(gcore.NotFoundError):
        impatient.cloud.volume_snapshots.get(snapshot_id=snapshot.id)


def test_snapshot_schedules(client, impatient, made):
    policies = client.cloud.snapshot_schedules
    nightly = {"type": "cron", "hour": "3", "timezone": "Europe/Berlin", "max_quantity": 7}
    whole = {"name": "walk nights", "action": "volume_snapshot", "schedules": [nightly], "volume_ids": [made.volume]}
    usage = policies.estimate_max_usage(**whole)
    assert (usage.max_volume_snapshot_count_usage, usage.max_volume_snapshot_size_usage) == (7, 49)
    policy = policies.create(**whole)
    assert [one.volume_id for one in policy.volumes] == [made.volume]
    assert [(one.type, one.hour) for one in policy.schedules] == [("cron", "3")]
    assert policies.update(policy_id=policy.id, name="walk by day", status="paused").status == "paused"
    hourly = {"type": "interval", "hours": 1, "retention_time": {"days": 1}}
    first, second = policies.add_schedules(policy_id=policy.id, schedules=[hourly]).schedules
    assert (second.type, second.hours, second.retention_time.days) == ("interval", 1, 1)
    assert policies.remove_schedules(policy_id=policy.id, schedule_ids=[first.id]).schedules == [second]
    assert policies.remove_volumes(policy_id=policy.id, volume_ids=[made.volume]).volumes == []
    volumes = policies.add_volumes(policy_id=policy.id, volume_ids=[made.volume, made.second_volume]).volumes
    assert {one.volume_id for one in volumes} == {made.volume, made.second_volume}
    assert policies.get(policy_id=policy.id).name == "walk by day"
    assert [one.id for one in policies.list().results] == [policy.id]
    assert policies.delete(policy_id=policy.id) is None
    with pytest.raises(gcore.NotFoundError):
        impatient.cloud.snapshot_schedules.get(policy_id=policy.id)


def test_images(client, made):
    images = client.cloud.instances.images
    public = images.list(limit=5)
    made.image = next(one for one in public if one.os_type == "linux").id
    assert images.get(image_id=made.image, include_prices=True).id == made.image
    boot = client.cloud.volumes.create_and_poll(source="image", name="walk boot", size=20, image_id=made.image)
    image = images.create_from_volume_and_poll(name="walk image", volume_id=boot.id, os_type="linux", ssh_key="allow")
    assert images.update(image_id=image.id, name="walk image one", tags={"a": "b"}).name == "walk image one"
    assert [one.id for one in images.list(visibility="private")] == [image.id]
    [task] = images.create_from_volume(name="walk image two", volume_id=boot.id).tasks
    second = client.cloud.tasks.poll(task).created_resources.images[0]
    images.delete_and_poll(image_id=second)
    [task] = images.delete(image_id=image.id).tasks
    client.cloud.tasks.poll(task)
    [task] = client.cloud.volumes.delete(volume_id=boot.id).tasks
    client.cloud.tasks.poll(task)


def test_images_from_an_address(client):
    images = client.cloud.instances.images
    address = "https://images.example.com/walk.qcow2"
    [task] = images.upload(name="walk afar", url=address, os_distro="debian", cow_format=True).tasks
    [afar] = client.cloud.tasks.poll(task).created_resources.images
    downloaded = images.get(image_id=afar)
    assert (downloaded.status, downloaded.os_distro, downloaded.size) == ("active", "debian", 2**30)
    images.delete_and_poll(image_id=afar)
    again = images.upload_and_poll(name="walk afar", url=address)
    assert (again.status, again.os_version) == ("active", "")
    images.delete_and_poll(image_id=again.id)


def test_file_shares(client, impatient):
    """A share of the default type, `standard`, in a region that has such shares, and a vast one where these are."""
    shares, here = client.cloud.file_shares, {"region_id": 2}
    network = client.cloud.networks.create_and_poll(name="walk share net", **here)
    client.cloud.networks.subnets.create_and_poll(name="walk share subnet", network_id=network.id, cidr="10.7.0.0/24", **here)
    share = shares.create_and_poll(name="walk share", protocol="NFS", size=10, network={"network_id": network.id}, **here)
    assert (share.status, share.type_name) == ("available", "standard")
    [task] = shares.create(name="walk vast", protocol="NFS", size=10, type_name="vast").tasks
    vast = client.cloud.tasks.poll(task).created_resources.file_shares[0]
    assert [one.name for one in shares.list(limit=1)] == ["walk vast"]
    assert shares.update_and_poll(file_share_id=share.id, name="walk share one", **here).name == "walk share one"
    for task in shares.update(file_share_id=share.id, tags={"a": "b"}, **here).tasks:
        client.cloud.tasks.poll(task)
    assert shares.resize_and_poll(file_share_id=share.id, size=11, **here).size == 11
    [task] = shares.resize(file_share_id=vast, size=12).tasks
    client.cloud.tasks.poll(task)
    rule = shares.access_rules.create(file_share_id=share.id, ip_address="10.7.0.0/24", access_mode="ro", **here)
    assert [one.id for one in shares.access_rules.list(file_share_id=share.id, **here)] == [rule.id]
    assert shares.access_rules.delete(file_share_id=share.id, access_rule_id=rule.id, **here) is None
    shares.delete_and_poll(file_share_id=share.id, **here)
    with pytest.raises(gcore.NotFoundError):
        impatient.cloud.file_shares.get(file_share_id=share.id, **here)
    [task] = shares.delete(file_share_id=vast).tasks
    client.cloud.tasks.poll(task)
