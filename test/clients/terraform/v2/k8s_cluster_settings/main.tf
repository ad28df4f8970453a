resource "gcore_cloud_ssh_key" "main" {
  project_id = var.project_id
  name       = "nodes"
  public_key = var.public_key
}

resource "gcore_cloud_k8s_cluster" "main" {
  project_id       = var.project_id
  region_id        = var.region_id
  name             = "shop"
  keypair          = gcore_cloud_ssh_key.main.name
  version          = "v1.34.4"
  pods_ip_pool     = "172.16.0.0/18"
  services_ip_pool = "172.24.0.0/18"

  authentication = {
    oidc = {
      client_id       = var.step == "update" ? "shop" : "kubernetes"
      groups_claim    = "groups"
      groups_prefix   = "oidc:"
      issuer_url      = "https://login.example.com"
      required_claims = { team = "shop" }
      signing_algs    = ["RS256"]
      username_claim  = "sub"
      username_prefix = "oidc:"
    }
  }
  cni = {
    cloud_k8s_cluster_provider = "cilium"
    cilium = {
      mask_size    = 24
      hubble_relay = true
      hubble_ui    = var.step == "update"
      tunnel       = "geneve"
    }
  }

  pools = [
    {
      name               = "one"
      flavor_id          = "g1-standard-2-4"
      min_node_count     = 1
      max_node_count     = 1
      boot_volume_size   = 50
      boot_volume_type   = "standard"
      security_group_ids = []
      servergroup_policy = "soft-anti-affinity"
      labels             = {}
      taints             = {}
      crio_config        = { "default-ulimits" = "nofile=1024:2048" }
      kubelet_config     = { "podMaxPids" = "4096" }
    },
  ]
}

variable "public_key" {
  type = string
}

output "imports" {
  value = { "gcore_cloud_k8s_cluster.main" = "${var.project_id}/${var.region_id}/${gcore_cloud_k8s_cluster.main.name}" }
}
