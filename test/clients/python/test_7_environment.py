"""What a module of an ordinary project makes: two web servers behind a load balancer with TLS, in a network of their own."""

import gcore
import pytest

FLAVOR = "g1-standard-1-2"
MONITOR = {"type": "HTTP", "delay": 10, "timeout": 5, "max_retries": 2, "url_path": "/healthz", "expected_codes": "200"}


def usage(client):
    [region] = [one for one in client.cloud.quotas.get_all().regional_quotas if one.region_id == 1]
    names = ["router", "loadbalancer", "servergroup", "vm", "volume", "network", "subnet", "firewall", "floating"]
    return {name: getattr(region, f"{name}_count_usage") for name in names}


@pytest.fixture(scope="module")
def before(client):
    return usage(client)


@pytest.fixture(scope="module")
def here(client, made, tls_bundle, before):
    """Makes everything; what is wanted together is asked for before any of it is waited for."""
    cloud = client.cloud
    network = cloud.networks.create_and_poll(name="env", create_router=False)
    subnet = cloud.networks.subnets.create_and_poll(
        name="env", network_id=network.id, cidr="10.80.0.0/24", gateway_ip="10.80.0.1", connect_to_network_router=False
    )
    [task] = cloud.networks.routers.create(
        name="env", external_gateway_info={"type": "default", "enable_snat": True},
        interfaces=[{"subnet_id": subnet.id, "type": "subnet"}],
    ).tasks
    [router] = cloud.tasks.poll(task).created_resources.routers
    group = cloud.security_groups.create_and_poll(
        name="env", rules=[
            {"direction": "ingress", "ethertype": "IPv4", "protocol": "tcp", "port_range_min": 8080, "port_range_max": 8080}
        ],
    )
    apart = cloud.placement_groups.create(name="env", policy="soft-anti-affinity")
    certificate = cloud.secrets.upload_tls_certificate_and_poll(name="env", payload=tls_bundle)
    tasks = [
        cloud.instances.create(
            flavor=FLAVOR, name=f"env-{index}", servergroup_id=apart.servergroup_id, security_groups=[{"id": group.id}],
            volumes=[{"source": "image", "image_id": made.image, "size": 20, "boot_index": 0}],
            interfaces=[{"type": "subnet", "network_id": network.id, "subnet_id": subnet.id}],
        ).tasks[0]
        for index in range(2)
    ]
    servers = [cloud.instances.get(instance_id=cloud.tasks.poll(one).created_resources.instances[0]) for one in tasks]
    addresses = [server.addresses["env"][0].addr for server in servers]

    def pool(name):
        members = [{"address": address, "protocol_port": 8080, "subnet_id": subnet.id} for address in addresses]
        return {
            "name": name, "protocol": "HTTP", "lb_algorithm": "LEAST_CONNECTIONS", "healthmonitor": MONITOR, "members": members
        }

    balancer = cloud.load_balancers.create_and_poll(
        name="env", vip_network_id=network.id, vip_subnet_id=subnet.id, floating_ip={"source": "new"},
        listeners=[
            {"name": "plain", "protocol": "HTTP", "protocol_port": 80, "pools": [pool("plain")]},
            {
                "name": "secure", "protocol": "TERMINATED_HTTPS", "protocol_port": 443, "secret_id": certificate.id,
                "insert_x_forwarded": True, "pools": [pool("secure")],
            },
        ],
    )
    return {
        "network": network.id, "subnet": subnet.id, "router": router, "group": group.id, "apart": apart.servergroup_id,
        "certificate": certificate.id, "servers": [one.id for one in servers], "balancer": balancer.id,
    }


def test_it_is_as_it_was_asked_for(client, here):
    balancers = client.cloud.load_balancers
    balancer = balancers.get(load_balancer_id=here["balancer"])
    assert (balancer.provisioning_status, balancer.operating_status, len(balancer.floating_ips)) == ("ACTIVE", "ONLINE", 1)
    status = balancers.statuses.get(load_balancer_id=here["balancer"])
    assert sorted(one.name for one in status.listeners) == ["plain", "secure"]
    members = [member for listener in status.listeners for pool in listener.pools for member in pool.members]
    assert [one.operating_status for one in members] == ["ONLINE"] * 4
    secure = next(iter(balancers.listeners.list(load_balancer_id=here["balancer"], name="secure")))
    assert (secure.secret_id, secure.insert_headers) == (here["certificate"], {"X-Forwarded-For": "true", "X-Forwarded-Port": "true", "X-Forwarded-Proto": "true"})
    for pool in balancers.pools.list(load_balancer_id=here["balancer"], details=True):
        assert (pool.healthmonitor.type, pool.healthmonitor.url_path, len(pool.members)) == ("HTTP", "/healthz", 2)
    placed = client.cloud.placement_groups.get(group_id=here["apart"])
    assert sorted(one.instance_id for one in placed.instances) == sorted(here["servers"])
    router = client.cloud.networks.routers.get(router_id=here["router"])
    assert [one.subnet_id for port in router.interfaces for one in port.ip_assignments] == [here["subnet"]]


def test_quotas_count_it(client, before, here):
    more = {name: count - before[name] for name, count in usage(client).items()}
    assert more == {
        "router": 1, "loadbalancer": 1, "servergroup": 1, "vm": 2, "volume": 2, "network": 1, "subnet": 1, "firewall": 1,
        "floating": 1,
    }


def test_asking_for_the_same_changes_nothing(client, here):
    balancers = client.cloud.load_balancers
    for listener in balancers.listeners.list(load_balancer_id=here["balancer"]):
        assert balancers.listeners.update(listener_id=listener.id, name=listener.name).tasks != []
    for pool in balancers.pools.list(load_balancer_id=here["balancer"]):
        assert balancers.pools.update(pool_id=pool.id, name=pool.name, lb_algorithm="LEAST_CONNECTIONS").tasks != []
    assert client.cloud.networks.routers.update(router_id=here["router"], name="env").tasks != []


def test_what_is_used_stays(impatient, here):
    cloud = impatient.cloud
    with pytest.raises(gcore.ConflictError):
        cloud.secrets.delete(secret_id=here["certificate"])
    with pytest.raises(gcore.ConflictError):
        cloud.networks.subnets.delete(subnet_id=here["subnet"])
    with pytest.raises(gcore.ConflictError):
        cloud.networks.routers.delete(router_id=here["router"])


def test_it_goes_and_leaves_nothing(client, before, here):
    cloud = client.cloud
    [floating] = cloud.load_balancers.get(load_balancer_id=here["balancer"]).floating_ips
    cloud.load_balancers.delete_and_poll(load_balancer_id=here["balancer"])
    cloud.floating_ips.delete_and_poll(floating_ip_id=floating.id)
    for server in here["servers"]:
        [disk] = cloud.instances.get(instance_id=server).volumes
        cloud.instances.delete_and_poll(instance_id=server, volumes=disk.id)
    [task] = cloud.placement_groups.delete(group_id=here["apart"]).tasks
    cloud.tasks.poll(task)
    [task] = cloud.secrets.delete(secret_id=here["certificate"]).tasks
    cloud.tasks.poll(task)
    [task] = cloud.networks.routers.delete(router_id=here["router"]).tasks
    cloud.tasks.poll(task)
    cloud.networks.delete_and_poll(network_id=here["network"])
    cloud.security_groups.delete(group_id=here["group"])
    assert usage(client) == before
