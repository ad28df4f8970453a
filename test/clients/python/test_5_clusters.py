"""Kubernetes clusters, pools and nodes."""

import gcore
import pytest

POOL = {
    "name": "web", "flavor_id": "g1-standard-2-4", "min_node_count": 1, "max_node_count": 3,
    "boot_volume_size": 50, "boot_volume_type": "ssd_hiiops", "servergroup_policy": "anti-affinity",
}
OIDC = {"issuer_url": "https://accounts.example.com", "client_id": "kubernetes", "groups_claim": "groups"}


def test_offers(client):
    assert "v1.31.14" in [one.version for one in client.cloud.k8s.list_versions()]
    assert POOL["flavor_id"] in [one.flavor_id for one in client.cloud.k8s.flavors.list(exclude_gpu=True, include_prices=True)]
    assert client.cloud.k8s.clusters.pools.check_quota(flavor_id=POOL["flavor_id"], node_count=1)


def test_clusters(client, impatient, made):
    clusters = client.cloud.k8s.clusters
    cluster = clusters.create_and_poll(
        name="walk", version="v1.31.14", keypair=made.key, pools=[POOL], cni={"provider": "cilium"},
        fixed_network=made.network, fixed_subnet=made.subnet,
    )
    assert (cluster.name, cluster.status) == ("walk", "Provisioned")
    assert [one.name for one in clusters.list()] == ["walk"]
    changed = clusters.update_and_poll(
        cluster_name="walk", authentication={"oidc": OIDC}, autoscaler_config={"scan-interval": "20s"},
        logging={"enabled": True, "destination_region_id": 1, "topic_name": "walk", "retention_policy": {"period": 45}},
    )
    assert changed.authentication.oidc.issuer_url == OIDC["issuer_url"]
    assert changed.autoscaler_config == {"scan-interval": "20s"}
    assert clusters.update(cluster_name="walk", autoscaler_config={"scan-interval": "20s"}).tasks != []
    kept = clusters.update_and_poll(cluster_name="walk", authentication=None, cni=None, ddos_profile=None, logging=None)
    assert kept.authentication.oidc.client_id == "kubernetes" and kept.logging.enabled
    assert clusters.update_and_poll(cluster_name="walk", authentication={"oidc": None}).authentication.oidc is None
    assert "BEGIN CERTIFICATE" in clusters.get_certificate(cluster_name="walk").certificate
    assert clusters.kubeconfig.get(cluster_name="walk").config.startswith("apiVersion")
    version = clusters.list_versions_for_upgrade(cluster_name="walk")[-1].version
    assert clusters.upgrade_and_poll(cluster_name="walk", version=version).version == version
    later = clusters.list_versions_for_upgrade(cluster_name="walk")[-1].version
    [task] = clusters.upgrade(cluster_name="walk", version=later).tasks
    client.cloud.tasks.poll(task)
    assert clusters.get(cluster_name="walk").version == later


def test_a_failed_change_raises_what_the_task_says(client):
    failing = {"enabled": True, "destination_region_id": 1, "topic_name": "simulate-failure"}
    with pytest.raises(ValueError, match="refused topic"):
        client.cloud.k8s.clusters.update_and_poll(cluster_name="walk", logging=failing)
    assert client.cloud.k8s.clusters.get(cluster_name="walk").logging.topic_name == "walk"


def test_pools(client, impatient):
    pools = client.cloud.k8s.clusters.pools
    pool = pools.create_and_poll(cluster_name="walk", **POOL | {"name": "extra", "labels": {"tier": "extra"}})
    assert (pool.name, pool.node_count) == ("extra", 1)
    assert {one.name for one in pools.list(cluster_name="walk")} == {"web", "extra"}
    assert pools.update(cluster_name="walk", pool_name="extra", auto_healing_enabled=True, max_node_count=4).max_node_count == 4
    assert pools.resize_and_poll(cluster_name="walk", pool_name="extra", node_count=2).node_count == 2
    [task] = pools.resize(cluster_name="walk", pool_name="extra", node_count=3).tasks
    client.cloud.tasks.poll(task)
    first, second, _ = pools.nodes.list(cluster_name="walk", pool_name="extra")
    assert len(client.cloud.k8s.clusters.nodes.list(cluster_name="walk")) == 4
    assert pools.nodes.delete(cluster_name="walk", pool_name="extra", instance_id=first.id) is None
    assert client.cloud.k8s.clusters.nodes.delete(cluster_name="walk", instance_id=second.id) is None
    pools.delete_and_poll(cluster_name="walk", pool_name="extra")
    with pytest.raises(gcore.NotFoundError):
        impatient.cloud.k8s.clusters.pools.get(cluster_name="walk", pool_name="extra")
    [task] = pools.create(cluster_name="walk", **POOL | {"name": "third"}).tasks
    client.cloud.tasks.poll(task)
    [task] = pools.delete(cluster_name="walk", pool_name="third").tasks
    client.cloud.tasks.poll(task)


def test_removal(client, impatient, made):
    clusters = client.cloud.k8s.clusters
    [task] = clusters.create(name="walk2", version="v1.31.14", keypair=made.key, pools=[POOL]).tasks
    client.cloud.tasks.poll(task)
    clusters.delete_and_poll(cluster_name="walk")
    [task] = clusters.delete(cluster_name="walk2").tasks
    client.cloud.tasks.poll(task)
    with pytest.raises(gcore.NotFoundError):
        impatient.cloud.k8s.clusters.get(cluster_name="walk")
