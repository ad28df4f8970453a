variable "public_key" {
  type = string
}

resource "gcore_network" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "backend"
}

resource "gcore_subnet" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  network_id = gcore_network.main.id
  name       = "nodes"
  cidr       = "10.10.0.0/24"
}

resource "gcore_keypair" "main" {
  project_id  = var.project_id
  sshkey_name = "laptop"
  public_key  = var.public_key
}

resource "gcore_k8sv2" "main" {
  project_id       = var.project_id
  region_id        = var.region_id
  name             = var.step == "replace" ? "cluster-two" : "cluster"
  fixed_network    = gcore_network.main.id
  fixed_subnet     = gcore_subnet.main.id
  pods_ip_pool     = "172.16.0.0/18"
  services_ip_pool = "172.24.0.0/18"
  keypair          = gcore_keypair.main.sshkey_name
  version          = var.step == "create" ? "v1.32.13" : "v1.33.9"
  is_ipv6          = false

  autoscaler_config = {
    scale-down-unneeded-time = var.step == "create" ? "5m" : "8m"
  }

  authentication {
    oidc {
      client_id       = "cluster"
      groups_claim    = "groups"
      groups_prefix   = "oidc:"
      issuer_url      = var.step == "create" ? "https://login.example.com" : "https://sign-in.example.com"
      required_claims = { team = "shop" }
      signing_algs    = ["RS256", "ES256"]
      username_claim  = "email"
      username_prefix = "oidc:"
    }
  }

  cni {
    provider = "cilium"
    cilium {
      mask_size       = 24
      tunnel          = "vxlan"
      encryption      = false
      lb_mode         = "snat"
      lb_acceleration = false
      routing_mode    = "tunnel"
      hubble_relay    = var.step != "create"
      hubble_ui       = var.step != "create"
    }
  }

  pool {
    name                 = "main"
    flavor_id            = "g1-standard-2-4"
    servergroup_policy   = "soft-anti-affinity"
    min_node_count       = 1
    max_node_count       = var.step == "create" ? 2 : 3
    boot_volume_size     = 20
    boot_volume_type     = "standard"
    auto_healing_enabled = var.step != "create"
    is_public_ipv4       = false
    labels               = var.step == "create" ? { stage = "trial" } : { stage = "live", owner = "shop" }
    taints               = var.step == "create" ? {} : { dedicated = "web:NoSchedule" }
    crio_config          = { default-ulimits = "nofile=1024:2048" }
    kubelet_config       = { podMaxPids = "4096" }
  }

  # Not for the import, which puts several pools in any order.
  dynamic "pool" {
    for_each = var.step == "update" ? ["extra"] : []
    content {
      name               = pool.value
      flavor_id          = "g1-standard-2-8"
      servergroup_policy = "anti-affinity"
      boot_volume_size   = 30
      boot_volume_type   = "ssd_hiiops"
      min_node_count     = 1
      max_node_count     = 1
    }
  }

  security_group_rules {
    direction        = "ingress"
    ethertype        = "IPv4"
    protocol         = "tcp"
    port_range_min   = 8080
    port_range_max   = var.step == "create" ? 8080 : 8081
    remote_ip_prefix = "10.0.0.0/8"
  }
}

data "gcore_k8sv2" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = gcore_k8sv2.main.name

  lifecycle {
    postcondition {
      condition     = self.version == gcore_k8sv2.main.version && length(self.pools) == length(gcore_k8sv2.main.pool)
      error_message = "Another cluster was found."
    }
  }
}

data "gcore_k8sv2_kubeconfig" "main" {
  project_id   = var.project_id
  region_id    = var.region_id
  cluster_name = gcore_k8sv2.main.name

  lifecycle {
    postcondition {
      condition     = self.host != "" && strcontains(self.kubeconfig, self.host)
      error_message = "The kubeconfig has no host."
    }
  }
}

output "imports" {
  value = { "gcore_k8sv2.main" = "${local.place}:${gcore_k8sv2.main.id}" }
}
