"""Instances, their interfaces, and addresses."""

import gcore
import pytest

FLAVOR = "g1-standard-1-2"


def boot(made, **more):
    return {"source": "image", "image_id": made.image, "size": 20, "boot_index": 0, **more}


def test_instances(client, impatient, made):
    instances = client.cloud.instances
    flavors = instances.flavors.list(include_prices=True, limit=2)
    assert FLAVOR in [one.flavor_id for one in flavors]
    instance = instances.create_and_poll(
        flavor=FLAVOR, name="walk one", ssh_key_name=made.key, tags={"env": "walk"}, volumes=[boot(made)],
        interfaces=[{"type": "subnet", "network_id": made.network, "subnet_id": made.subnet}],
        security_groups=[{"id": made.group}],
    )
    assert (instance.name, instance.status, instance.ssh_key_name) == ("walk one", "ACTIVE", made.key)
    [task] = instances.create(
        flavor=FLAVOR, name_template="walk-{ip_octets}", volumes=[boot(made)], interfaces=[{"type": "external"}]
    ).tasks
    second = client.cloud.tasks.poll(task).created_resources.instances[0]
    assert [one.id for one in instances.list(name="walk one", limit=1)] == [instance.id]
    assert len(instances.list(limit=1, order_by="name.asc", only_with_fixed_external_ip=True)) == 1
    assert instances.update(instance_id=instance.id, name="walk 1", tags={"env": None}).name == "walk 1"
    assert instances.action_and_poll(instance_id=instance.id, action="stop").status == "SHUTOFF"
    assert instances.resize_and_poll(instance_id=instance.id, flavor_id="g1-standard-2-4").flavor.flavor_id == "g1-standard-2-4"
    [task] = instances.resize(instance_id=instance.id, flavor_id=FLAVOR).tasks
    client.cloud.tasks.poll(task)
    [task] = instances.action(instance_id=instance.id, action="start").tasks
    client.cloud.tasks.poll(task)
    assert instances.get(instance_id=instance.id).status == "ACTIVE"
    made.instance, made.public_instance = instance.id, second


def test_serial_consoles(client, impatient, made):
    console = client.cloud.instances.get_console(instance_id=made.instance)
    assert console.remote_console.type == "serial"
    with pytest.raises(gcore.BadRequestError):
        impatient.cloud.instances.get_console(instance_id=made.instance, console_type="novnc")


def test_metrics_of_an_instance(client, impatient, made):
    metrics = client.cloud.instances.metrics.list(
        instance_id=made.instance, time_interval=1, time_unit="hour", limit=10
    )
    assert metrics.count == len(metrics.results) <= 10
    with pytest.raises(gcore.BadRequestError):
        impatient.cloud.instances.metrics.list(instance_id=made.instance, time_interval=2, time_unit="day")


def test_security_groups_of_an_instance(client, made):
    instances = client.cloud.instances
    other = client.cloud.security_groups.create_and_poll(name="walk other")
    assert instances.assign_security_group(instance_id=made.instance, name=other.name) is None
    assert other.name in [one.name for one in instances.get(instance_id=made.instance).security_groups]
    assert instances.unassign_security_group(instance_id=made.instance, name=other.name) is None
    assert client.cloud.security_groups.delete(group_id=other.id) is None


def test_volumes_of_an_instance(client, made):
    volumes = client.cloud.volumes
    assert volumes.attach_to_instance_and_poll(volume_id=made.volume, instance_id=made.instance) is None
    assert volumes.get(volume_id=made.volume).status == "in-use"
    assert made.volume in [one.id for one in volumes.list(instance_id=made.instance)]
    volumes.detach_from_instance_and_poll(volume_id=made.volume, instance_id=made.instance)
    [task] = volumes.attach_to_instance(volume_id=made.second_volume, instance_id=made.instance).tasks
    client.cloud.tasks.poll(task)
    [task] = volumes.detach_from_instance(volume_id=made.second_volume, instance_id=made.instance).tasks
    client.cloud.tasks.poll(task)


def test_interfaces(client, made):
    interfaces = client.cloud.instances.interfaces
    before = interfaces.list(instance_id=made.instance)
    assert interfaces.attach_and_poll(instance_id=made.instance, type="any_subnet", network_id=made.network) is None
    after = interfaces.list(instance_id=made.instance)
    [new] = [one for one in after if one.port_id != before[0].port_id]
    interfaces.detach_and_poll(
        instance_id=made.instance, port_id=new.port_id, ip_address=new.ip_assignments[0].ip_address
    )
    [task] = interfaces.attach(instance_id=made.instance, type="subnet", subnet_id=made.subnet).tasks
    client.cloud.tasks.poll(task)
    [new] = [one for one in interfaces.list(instance_id=made.instance) if one.port_id != before[0].port_id]
    [task] = interfaces.detach(
        instance_id=made.instance, port_id=new.port_id, ip_address=new.ip_assignments[0].ip_address
    ).tasks
    client.cloud.tasks.poll(task)
    made.port, made.address = before[0].port_id, before[0].ip_assignments[0].ip_address


def test_port_security(client, made):
    instances = client.cloud.instances
    assert not instances.disable_port_security(port_id=made.port).port_security_enabled
    assert instances.enable_port_security(port_id=made.port).port_security_enabled


def test_floating_addresses(client, impatient, made):
    floating = client.cloud.floating_ips
    address = floating.create_and_poll(tags={"env": "walk"})
    assert address.status == "DOWN"
    [task] = floating.create(port_id=made.port, fixed_ip_address=made.address).tasks
    second = client.cloud.tasks.poll(task).created_resources.floatingips[0]
    assert [one.id for one in floating.list(tag_key=["env"], limit=1)] == [address.id]
    assert [one.id for one in floating.list(status="ACTIVE")] == [second]
    [listed] = floating.list(port_ids=[made.port])
    assert listed.instance.id == made.instance
    assert floating.unassign(floating_ip_id=second).port_id is None
    assert floating.assign(floating_ip_id=second, port_id=made.port).port_id == made.port
    assert floating.update_and_poll(floating_ip_id=second, port_id=None).port_id is None
    for task in floating.update(floating_ip_id=second, tags={"a": "b"}).tasks:
        client.cloud.tasks.poll(task)
    floating.delete_and_poll(floating_ip_id=address.id)
    [task] = floating.delete(floating_ip_id=second).tasks
    client.cloud.tasks.poll(task)
    with pytest.raises(gcore.NotFoundError):
        impatient.cloud.floating_ips.get(floating_ip_id=address.id)


def test_reserved_addresses(client, impatient, made):
    reserved = client.cloud.reserved_fixed_ips
    address = reserved.create_and_poll(type="external")
    assert address.is_external
    [task] = reserved.create(type="subnet", subnet_id=made.subnet, is_vip=True).tasks
    vip = client.cloud.tasks.poll(task).created_resources.ports[0]
    assert [one.port_id for one in reserved.list(external_only=True, limit=1, order_by="created_at.asc")] == [address.port_id]
    assert [one.port_id for one in reserved.list(vip_only=True)] == [vip]
    assert reserved.get(port_id=vip).is_vip
    candidates = reserved.vip.candidate_ports.list(port_id=vip).results
    assert made.port in [one.port_id for one in candidates]
    added = reserved.vip.connected_ports.add(port_id=vip, port_ids=[made.port])
    assert [one.port_id for one in added.results] == [made.port]
    assert len(reserved.vip.connected_ports.list(port_id=vip).results) == 1
    assert reserved.vip.connected_ports.replace(port_id=vip, port_ids=[]).results == []
    assert not reserved.update(port_id=vip, is_vip=False).is_vip
    assert reserved.vip.toggle(port_id=vip, is_vip=True).is_vip
    reserved.delete_and_poll(port_id=vip)
    [task] = reserved.delete(port_id=address.port_id).tasks
    client.cloud.tasks.poll(task)
    with pytest.raises(gcore.NotFoundError):
        impatient.cloud.reserved_fixed_ips.get(port_id=vip)


def test_placement_groups(client, impatient, made):
    groups, instances = client.cloud.placement_groups, client.cloud.instances
    group = groups.create(name="walk apart", policy="anti-affinity")
    spare = groups.create(name="walk together", policy="affinity")
    assert {one.servergroup_id for one in groups.list(limit=1)} >= {group.servergroup_id, spare.servergroup_id}
    put = {"instance_id": made.instance, "servergroup_id": group.servergroup_id}
    assert instances.add_to_placement_group_and_poll(**put).id == made.instance
    [inside] = groups.get(group_id=group.servergroup_id).instances
    assert inside.instance_id == made.instance
    assert instances.remove_from_placement_group_and_poll(instance_id=made.instance).id == made.instance
    [task] = instances.add_to_placement_group(**put).tasks
    client.cloud.tasks.poll(task)
    [task] = instances.remove_from_placement_group(instance_id=made.instance).tasks
    client.cloud.tasks.poll(task)
    for one in (spare, group):
        [task] = groups.delete(group_id=one.servergroup_id).tasks
        client.cloud.tasks.poll(task)
    with pytest.raises(gcore.NotFoundError):
        impatient.cloud.placement_groups.get(group_id=group.servergroup_id)


def test_removal(client, impatient, made):
    instances = client.cloud.instances
    instances.delete_and_poll(instance_id=made.instance)
    [task] = instances.delete(instance_id=made.public_instance).tasks
    client.cloud.tasks.poll(task)
    with pytest.raises(gcore.NotFoundError):
        impatient.cloud.instances.get(instance_id=made.instance)
