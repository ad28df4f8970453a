locals {
  fresh = !contains(["update", "replace"], var.step)
}

resource "gcore_cloud_ssh_key" "main" {
  project_id = var.project_id
  name       = "nodes"
  public_key = var.public_key
}

resource "gcore_cloud_network" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "cluster"
}

resource "gcore_cloud_network_subnet" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  network_id = gcore_cloud_network.main.id
  name       = "cluster"
  cidr       = "10.20.0.0/24"
}

resource "gcore_cloud_security_group" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "nodes"
}

resource "gcore_cloud_k8s_cluster" "main" {
  project_id    = var.project_id
  region_id     = var.region_id
  name          = var.step == "replace" ? "shop-two" : "shop"
  keypair       = gcore_cloud_ssh_key.main.name
  version       = local.fresh ? "v1.33.7" : "v1.33.9"
  fixed_network = gcore_cloud_network.main.id
  fixed_subnet  = gcore_cloud_network_subnet.main.id

  autoscaler_config = { "scale-down-unneeded-time" = local.fresh ? "5m" : "7m" }

  pools = [
    {
      name                 = "one"
      flavor_id            = "g1-standard-2-4"
      min_node_count       = 1
      max_node_count       = local.fresh ? 2 : 3
      boot_volume_size     = 50
      boot_volume_type     = "standard"
      auto_healing_enabled = true
      is_public_ipv4       = false
      security_group_ids   = [gcore_cloud_security_group.main.id]
      servergroup_policy   = "soft-anti-affinity"
      labels               = local.fresh ? { tier = "web" } : { tier = "app", zone = "blue" }
      taints               = local.fresh ? {} : { tier = "app:NoSchedule" }
      crio_config          = {}
      kubelet_config       = {}
    },
  ]
}

data "gcore_cloud_k8s_cluster" "main" {
  project_id   = var.project_id
  region_id    = var.region_id
  cluster_name = gcore_cloud_k8s_cluster.main.name

  lifecycle {
    postcondition {
      condition     = self.version == gcore_cloud_k8s_cluster.main.version
      error_message = "Another cluster was found."
    }
  }
}

data "gcore_cloud_k8s_cluster_kubeconfig" "main" {
  project_id   = var.project_id
  region_id    = var.region_id
  cluster_name = gcore_cloud_k8s_cluster.main.name

  lifecycle {
    postcondition {
      condition     = yamldecode(self.config).kind == "Config"
      error_message = "That is no kubeconfig."
    }
  }
}

variable "public_key" {
  type = string
}

output "imports" {
  value = { "gcore_cloud_k8s_cluster.main" = "${var.project_id}/${var.region_id}/${gcore_cloud_k8s_cluster.main.name}" }
}
