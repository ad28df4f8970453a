"""Networks, subnets and security groups."""

import gcore
import pytest


def test_networks(client, impatient, made):
    networks = client.cloud.networks
    network = networks.create_and_poll(name="walk net", create_router=False, type="vxlan", tags={"env": "walk"})
    assert (network.name, [tag.value for tag in network.tags]) == ("walk net", ["walk"])
    [task] = networks.create(name="walk net two").tasks
    second = client.cloud.tasks.poll(task).created_resources.networks[0]
    names = [one.name for one in networks.list(limit=1, order_by="name.desc")]
    assert names == ["walk net two", "walk net", "default"]
    assert [one.id for one in networks.list(tag_key=["env"], owned_by="project")] == [network.id]
    assert [one.id for one in networks.list(tag_key_value='{"env": "walk"}')] == [network.id]
    changed = networks.update_and_poll(network_id=network.id, name="walk net one", tags={"env": None})
    assert (changed.name, changed.tags) == ("walk net one", [])
    assert networks.update(network_id=network.id, name="walk net one").tasks == []
    networks.delete_and_poll(network_id=second)
    with pytest.raises(gcore.NotFoundError):
        impatient.cloud.networks.get(network_id=second)
    assert networks.get(network_id=network.id).id == network.id
    [task] = networks.delete(network_id=networks.create_and_poll(name="walk net three").id).tasks
    client.cloud.tasks.poll(task)
    made.network = network.id


def test_subnets(client, made):
    subnets = client.cloud.networks.subnets
    subnet = subnets.create_and_poll(
        name="walk subnet", network_id=made.network, cidr="10.77.0.0/24", enable_dhcp=True, dns_nameservers=["1.1.1.1"]
    )
    assert (subnet.cidr, subnet.gateway_ip) == ("10.77.0.0/24", "10.77.0.1")
    [task] = subnets.create(
        name="walk subnet two", network_id=made.network, cidr="10.78.0.0/24", gateway_ip=None,
        connect_to_network_router=False,
    ).tasks
    second = client.cloud.tasks.poll(task).created_resources.subnets[0]
    listed = subnets.list(network_id=made.network, limit=1, order_by="cidr.desc")
    assert [one.cidr for one in listed] == ["10.78.0.0/24", "10.77.0.0/24"]
    changed = subnets.update(
        subnet_id=second, name="walk subnet 2", host_routes=[{"destination": "10.9.0.0/16", "nexthop": "10.78.0.9"}]
    )
    assert changed.host_routes[0].nexthop == "10.78.0.9"
    [task] = subnets.delete(subnet_id=second).tasks
    client.cloud.tasks.poll(task)
    made.subnet = subnets.get(subnet_id=subnet.id).id


def test_security_groups(client, impatient, made):
    groups = client.cloud.security_groups
    rule = {"direction": "ingress", "ethertype": "IPv4", "protocol": "tcp", "port_range_min": 22, "port_range_max": 22}
    group = groups.create_and_poll(name="walk group", description="walk", rules=[rule], tags={"env": "walk"})
    [task] = groups.create(name="walk group two").tasks
    second = client.cloud.tasks.poll(task).created_resources.security_groups[0]
    assert [one.id for one in groups.list(tag_key=["env"], limit=1)] == [group.id]
    made_rule = groups.rules.create_and_poll(
        group_id=group.id, direction="egress", protocol="udp", port_range_min=53, port_range_max=53,
        remote_ip_prefix="10.0.0.0/8",
    )
    assert made_rule.remote_ip_prefix == "10.0.0.0/8"
    [task] = groups.rules.create(group_id=group.id, direction="ingress", protocol="icmp", remote_group_id=second).tasks
    of_group = client.cloud.tasks.poll(task).created_resources.security_group_rules[0]
    assert {one.remote_group_id for one in groups.get(group_id=group.id).security_group_rules} >= {second}
    replaced = groups.rules.replace(
        rule_id=made_rule.id, direction="egress", protocol="udp", port_range_min=53, port_range_max=54, remote_group_id=None
    )
    assert replaced.port_range_max == 54
    groups.rules.delete_and_poll(group_id=group.id, rule_id=replaced.id)
    [task] = groups.rules.delete(group_id=group.id, rule_id=of_group).tasks
    client.cloud.tasks.poll(task)
    changed = groups.update_and_poll(group_id=group.id, name="walk group one", rules=[rule | {"port_range_max": 23}])
    assert changed.name == "walk group one"
    assert groups.update(group_id=group.id, name="walk group one").tasks == []
    assert groups.copy(group_id=group.id, name="walk copy").name == "walk copy"
    assert groups.revert_to_default(group_id=second).id == second
    assert groups.delete(group_id=second) is None
    with pytest.raises(gcore.NotFoundError):
        impatient.cloud.security_groups.get(group_id=second)
    made.group, made.group_name = group.id, changed.name


def test_secrets(client, impatient, tls_bundle):
    """Certificates of load balancers."""
    secrets = client.cloud.secrets
    secret = secrets.upload_tls_certificate_and_poll(name="walk certificate", payload=tls_bundle)
    assert (secret.name, secret.secret_type, secret.status) == ("walk certificate", "certificate", "ACTIVE")
    [task] = secrets.upload_tls_certificate(name="walk old", payload=tls_bundle, expiration="2040-01-01T00:00:00Z").tasks
    second = client.cloud.tasks.poll(task).created_resources.secrets[0]
    assert {one.id for one in secrets.list(limit=1)} == {secret.id, second}
    assert secrets.get(secret_id=second).expiration.year == 2040
    with pytest.raises(gcore.BadRequestError):
        impatient.cloud.secrets.upload_tls_certificate(name="walk", payload={**tls_bundle, "private_key": "key"})
    [task] = secrets.delete(secret_id=second).tasks
    client.cloud.tasks.poll(task)
    with pytest.raises(gcore.NotFoundError):
        impatient.cloud.secrets.get(secret_id=second)
