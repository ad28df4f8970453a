resource "gcore_k8sv2" "main" {
  project_id    = var.project_id
  region_id     = var.region_id
  name          = var.name
  version       = var.kubernetes_version
  keypair       = gcore_keypair.main.sshkey_name
  fixed_network = gcore_network.main.id
  fixed_subnet  = gcore_subnet.main.id

  pool {
    name               = "workers"
    flavor_id          = "g1-standard-2-4"
    servergroup_policy = "soft-anti-affinity"
    min_node_count     = 1
    max_node_count     = 2
    boot_volume_size   = 50
    boot_volume_type   = "standard"
    labels             = { tier = "web" }
  }

  pool {
    name               = "batch"
    flavor_id          = "g1-standard-4-8"
    servergroup_policy = "soft-anti-affinity"
    min_node_count     = 1
    max_node_count     = var.batch_nodes
    boot_volume_size   = 50
    boot_volume_type   = "standard"
    taints             = { dedicated = "batch:NoSchedule" }
  }

  authentication {
    oidc {
      issuer_url     = "https://login.example.com"
      client_id      = "kubernetes"
      username_claim = "email"
      groups_claim   = "groups"
      signing_algs   = ["RS256"]
    }
  }

  autoscaler_config = {
    scan-interval = var.scan_interval
  }

  cni {
    provider = "cilium"
    cilium {
      hubble_relay = true
      hubble_ui    = true
    }
  }

  # The template web_service_v1, and how many connections one address may open in a second.
  ddos_profile {
    enabled          = true
    profile_template = 65
    fields {
      base_field  = 272
      field_value = jsonencode(100)
    }
  }

  # The nodes need a way out of the subnet.
  depends_on = [gcore_router.main]
}

data "gcore_k8sv2_kubeconfig" "main" {
  project_id   = var.project_id
  region_id    = var.region_id
  cluster_name = gcore_k8sv2.main.name
}
