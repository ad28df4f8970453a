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
    assert networks.update(network_id=network.id, name="walk net one").tasks != []
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


def test_routers(client, impatient, made):
    routers = client.cloud.networks.routers
    [outside] = client.cloud.networks.list(external=True, owned_by="any")
    [task] = routers.create(
        name="walk router",
        external_gateway_info={"type": "default", "enable_snat": True},
        interfaces=[{"subnet_id": made.subnet, "type": "subnet"}],
        routes=[{"destination": "10.9.0.0/16", "nexthop": "10.77.0.9"}],
    ).tasks
    [router_id] = client.cloud.tasks.poll(task).created_resources.routers
    router = routers.get(router_id=router_id)
    assert (router.status, router.distributed, router.routes[0].nexthop) == ("ACTIVE", False, "10.77.0.9")
    assert router.external_gateway_info.network_id == outside.id
    assert len(router.external_gateway_info.external_fixed_ips) == 1
    [interface] = router.interfaces
    assert interface.network_id == made.network
    assert [(one.ip_address, one.subnet_id) for one in interface.ip_assignments] == [("10.77.0.1", made.subnet)]
    assert [one.id for one in routers.list(name="walk router", limit=1)] == [router_id]
    public, private = routers.metrics.list(router_id=router_id, time_interval=1, time_unit="hour").results
    assert (public.interface_type, public.network_id) == ("public", outside.id)
    assert (private.interface_type, private.port_id) == ("private", interface.port_id)
    assert private.ip_addresses == ["10.77.0.1"]
    assert {point.network_bps_ingress for point in public.metrics + private.metrics} <= {0}
    gateway = {"type": "manual", "network_id": outside.id, "enable_snat": False}
    [task] = routers.update(router_id=router_id, name="walk router one", external_gateway_info=gateway, routes=[]).tasks
    client.cloud.tasks.poll(task)
    changed = routers.get(router_id=router_id)
    assert (changed.name, changed.external_gateway_info.enable_snat, changed.routes) == ("walk router one", False, [])
    assert routers.update(router_id=router_id, name="walk router one").tasks != []
    assert routers.update_and_poll(router_id=router_id, name="walk router two").name == "walk router two"
    assert routers.detach_subnet(router_id=router_id, subnet_id=made.subnet).interfaces == []
    attached = routers.attach_subnet(router_id=router_id, subnet_id=made.subnet, ip_address="10.77.0.77")
    assert attached.interfaces[0].ip_assignments[0].ip_address == "10.77.0.77"
    with pytest.raises(gcore.ConflictError):
        impatient.cloud.networks.routers.attach_subnet(router_id=router_id, subnet_id=made.subnet)
    # Floating IPs and clusters of later steps need its gateway address.
    routers.detach_subnet(router_id=router_id, subnet_id=made.subnet)
    routers.attach_subnet(router_id=router_id, subnet_id=made.subnet)
    [task] = routers.create(name="walk bare").tasks
    [bare] = client.cloud.tasks.poll(task).created_resources.routers
    assert routers.get(router_id=bare).external_gateway_info is None
    [task] = routers.delete(router_id=bare).tasks
    client.cloud.tasks.poll(task)
    with pytest.raises(gcore.NotFoundError):
        impatient.cloud.networks.routers.get(router_id=bare)


def test_ip_ranges(client):
    outside = [one for one in client.cloud.networks.list(external=True, owned_by="any")]
    cidrs = {subnet.cidr for subnet in client.cloud.networks.subnets.list(network_id=outside[0].id, owned_by="any")}
    assert cidrs < set(client.cloud.ip_ranges.list().ranges)


def test_a_network_with_its_router(client):
    networks = client.cloud.networks
    network = networks.create_and_poll(name="walk routed")
    subnet = networks.subnets.create_and_poll(name="walk routed", network_id=network.id, cidr="10.79.0.0/24")
    [router] = networks.routers.list(name="walk routed_router")
    assert [one.network_id for one in router.interfaces] == [network.id]
    assert [one.subnet_id for port in router.interfaces for one in port.ip_assignments] == [subnet.id]
    networks.delete_and_poll(network_id=network.id)
    assert router.id not in [one.id for one in networks.routers.list()]


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
    assert groups.update(group_id=group.id, name="walk group one").tasks != []
    assert groups.copy(group_id=group.id, name="walk copy").name == "walk copy"
    assert groups.revert_to_default(group_id=second).id == second
    assert groups.delete(group_id=second) is None
    with pytest.raises(gcore.NotFoundError):
        impatient.cloud.security_groups.get(group_id=second)
    made.group, made.group_name = group.id, changed.name


def test_metrics_of_a_load_balancer(client, made):
    balancers = client.cloud.load_balancers
    balancer = balancers.create_and_poll(name="walk measured", vip_network_id=made.network)
    assert balancers.metrics.list(load_balancer_id=balancer.id, time_interval=1, time_unit="hour").count >= 0
    balancers.delete_and_poll(load_balancer_id=balancer.id)


def test_load_balancers(client, impatient, made):
    balancers = client.cloud.load_balancers
    pool = {
        "name": "walk servers", "protocol": "HTTP", "lb_algorithm": "ROUND_ROBIN",
        "healthmonitor": {"type": "TCP", "delay": 10, "timeout": 5, "max_retries": 2},
        "members": [{"address": "10.77.0.9", "protocol_port": 80, "subnet_id": made.subnet}],
    }
    web = {"name": "walk web", "protocol": "HTTP", "protocol_port": 80, "pools": [pool]}
    [flavor, *_] = [one for one in balancers.flavors.list(include_prices=True)]
    balancer = balancers.create_and_poll(
        name="walk balancer", flavor=flavor.flavor_id, vip_network_id=made.network, listeners=[web], tags={"env": "walk"}
    )
    assert (balancer.vip_ip_family, balancer.flavor.flavor_id) == ("ipv4", flavor.flavor_id)
    changed = balancers.update(load_balancer_id=balancer.id, name="walk balancer one", preferred_connectivity="L3")
    assert (changed.name, changed.preferred_connectivity) == ("walk balancer one", "L3")
    assert [one.id for one in balancers.list(tag_key=["env"], show_stats=True)] == [balancer.id]
    other = [one.flavor_id for one in balancers.flavors.list()][1]
    assert balancers.resize_and_poll(load_balancer_id=balancer.id, flavor=other).flavor.flavor_id == other
    assert balancers.failover_and_poll(load_balancer_id=balancer.id, force=True).id == balancer.id
    [task] = balancers.resize(load_balancer_id=balancer.id, flavor=flavor.flavor_id).tasks
    client.cloud.tasks.poll(task)
    [task] = balancers.failover(load_balancer_id=balancer.id).tasks
    client.cloud.tasks.poll(task)
    status = balancers.statuses.get(load_balancer_id=balancer.id)
    assert status.listeners[0].pools[0].members[0].operating_status == "ONLINE"
    assert [one.id for one in balancers.statuses.list().results] == [balancer.id]

    listeners = balancers.listeners
    listener = listeners.create_and_poll(
        name="walk listener", load_balancer_id=balancer.id, protocol="HTTP", protocol_port=81,
        allowed_cidrs=["10.0.0.0/8"],
    )
    assert listeners.update_and_poll(listener_id=listener.id, connection_limit=5).connection_limit == 5
    assert listeners.update(listener_id=listener.id, connection_limit=5).tasks != []
    assert listeners.get(listener_id=listener.id, show_stats=True).stats.total_connections == 0
    assert [one.id for one in listeners.list(load_balancer_id=balancer.id, name="listener")] == [listener.id]
    [task] = listeners.create(
        name="walk short", load_balancer_id=balancer.id, protocol="TCP", protocol_port=82
    ).tasks
    short = client.cloud.tasks.poll(task).created_resources.listeners[0]
    listeners.delete_and_poll(listener_id=short)

    pools = balancers.pools
    spare = pools.create_and_poll(
        name="walk spare", load_balancer_id=balancer.id, protocol="HTTP", lb_algorithm="ROUND_ROBIN"
    )
    assert pools.update_and_poll(pool_id=spare.id, lb_algorithm="SOURCE_IP").lb_algorithm == "SOURCE_IP"
    assert pools.update(pool_id=spare.id, lb_algorithm="SOURCE_IP").tasks != []
    [task] = pools.health_monitors.create(
        pool_id=spare.id, type="HTTP", delay=10, api_timeout=5, max_retries=2, url_path="/healthz"
    ).tasks
    client.cloud.tasks.poll(task)
    assert pools.get(pool_id=spare.id).healthmonitor.url_path == "/healthz"
    assert pools.health_monitors.get(pool_id=spare.id).timeout == 5
    [task] = pools.health_monitors.update(pool_id=spare.id, delay=20, api_timeout=15, url_path=None).tasks
    client.cloud.tasks.poll(task)
    monitor = pools.health_monitors.get(pool_id=spare.id)
    assert (monitor.delay, monitor.timeout, monitor.max_retries, monitor.url_path) == (20, 15, 2, None)
    assert pools.health_monitors.update(pool_id=spare.id, delay=20).tasks != []
    pools.health_monitors.delete(pool_id=spare.id)
    with pytest.raises(gcore.NotFoundError):
        impatient.cloud.load_balancers.pools.health_monitors.get(pool_id=spare.id)
    assert len([one for one in pools.list(load_balancer_id=balancer.id, details=True)]) == 2
    [task] = pools.create(
        name="walk short", listener_id=listener.id, protocol="HTTP", lb_algorithm="ROUND_ROBIN"
    ).tasks
    pools.delete_and_poll(pool_id=client.cloud.tasks.poll(task).created_resources.pools[0])

    members = pools.members
    member = members.create_and_poll(
        pool_id=spare.id, address="10.77.0.10", protocol_port=80, subnet_id=made.subnet, monitor_port=8080
    )
    assert (member.subnet_id, member.weight, member.operating_status) == (made.subnet, 1, "NO_MONITOR")
    [task] = members.create(pool_id=spare.id, address="10.77.0.9", protocol_port=80, backup=True).tasks
    [second] = client.cloud.tasks.poll(task).created_resources.members
    assert [one.id for one in members.list(pool_id=spare.id, limit=1)] == [second, member.id]
    assert [one.id for one in members.list(pool_id=spare.id, order_by="created_at.asc")] == [member.id, second]
    changed = members.update_and_poll(member_id=member.id, pool_id=spare.id, weight=5, monitor_port=None)
    assert (changed.weight, changed.monitor_port) == (5, None)
    assert members.update(member_id=member.id, pool_id=spare.id, weight=5).tasks != []
    wanted = [
        {"address": "10.77.0.10", "protocol_port": 80, "subnet_id": made.subnet, "weight": 5},
        {"address": "10.77.0.11", "protocol_port": 80},
    ]
    kept, third = members.replace_and_poll(pool_id=spare.id, body=wanted)
    assert (kept.id, third.address) == (member.id, "10.77.0.11")
    assert members.replace(pool_id=spare.id, body=wanted).tasks != []
    # Without a body, this SDK says nothing of the members that are wanted.
    with pytest.raises(gcore.BadRequestError):
        impatient.cloud.load_balancers.pools.members.replace(pool_id=spare.id)
    members.delete_and_poll(member_id=third.id, pool_id=spare.id)
    [task] = members.delete(member_id=member.id, pool_id=spare.id).tasks
    client.cloud.tasks.poll(task)
    with pytest.raises(gcore.NotFoundError):
        impatient.cloud.load_balancers.pools.members.get(member_id=member.id, pool_id=spare.id)

    policies = balancers.l7_policies
    policy = policies.create_and_poll(
        action="REDIRECT_TO_POOL", listener_id=listener.id, redirect_pool_id=spare.id, name="walk policy"
    )
    changed = policies.update_and_poll(
        l7policy_id=policy.id, action="REDIRECT_TO_URL", redirect_url="https://www.example.com"
    )
    assert (changed.redirect_url, changed.redirect_pool_id) == ("https://www.example.com", None)
    assert policies.update(l7policy_id=policy.id, action="REDIRECT_TO_URL", redirect_url="https://www.example.com").tasks != []
    assert policies.get(l7policy_id=policy.id).position == 1
    assert [one.id for one in policies.list()] == [policy.id]
    rules = policies.rules
    rule = rules.create_and_poll(l7policy_id=policy.id, type="PATH", compare_type="STARTS_WITH", value="/images")
    replaced = rules.replace_and_poll(
        l7rule_id=rule.id, l7policy_id=policy.id, type="HEADER", compare_type="EQUAL_TO", key="Accept", value="x"
    )
    assert (replaced.type, replaced.key) == ("HEADER", "Accept")
    assert rules.replace(
        l7rule_id=rule.id, l7policy_id=policy.id, type="HEADER", compare_type="EQUAL_TO", key="Accept", value="x"
    ).tasks != []
    assert rules.get(l7rule_id=rule.id, l7policy_id=policy.id).id == rule.id
    assert [one.id for one in rules.list(l7policy_id=policy.id)] == [rule.id]
    rules.delete_and_poll(l7rule_id=rule.id, l7policy_id=policy.id)
    [task] = rules.create(l7policy_id=policy.id, type="HOST_NAME", compare_type="EQUAL_TO", value="example.com").tasks
    second = client.cloud.tasks.poll(task).created_resources.l7rules[0]
    [task] = rules.delete(l7rule_id=second, l7policy_id=policy.id).tasks
    client.cloud.tasks.poll(task)
    policies.delete_and_poll(l7policy_id=policy.id)
    [task] = policies.create(action="REJECT", listener_id=listener.id).tasks
    second = client.cloud.tasks.poll(task).created_resources.l7polices[0]
    [task] = policies.delete(l7policy_id=second).tasks
    client.cloud.tasks.poll(task)
    [task] = listeners.delete(listener_id=listener.id).tasks
    client.cloud.tasks.poll(task)
    [task] = pools.delete(pool_id=spare.id).tasks
    client.cloud.tasks.poll(task)
    balancers.delete_and_poll(load_balancer_id=balancer.id)
    [task] = balancers.create(name="walk short").tasks
    second = client.cloud.tasks.poll(task).created_resources.loadbalancers[0]
    assert balancers.get(load_balancer_id=second, with_ddos=True).ddos_profile is None
    [task] = balancers.delete(load_balancer_id=second).tasks
    client.cloud.tasks.poll(task)


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
