# What Slurm keeps: its jobs, and what users see as their disk.
resource "gcore_cloud_file_share" "slurm" {
  name      = "${var.name}-slurm"
  type_name = "vast"
  protocol  = "NFS"
  size      = 20
  tags      = var.tags

  share_settings = {
    root_squash        = false
    path_length        = "NPL"
    allowed_characters = "NPL"
  }
}

resource "gcore_cloud_k8s_cluster" "main" {
  name          = var.name
  version       = var.kubernetes_version
  keypair       = gcore_cloud_ssh_key.main.name
  fixed_network = gcore_cloud_network.main.id
  fixed_subnet  = gcore_cloud_network_subnet.main.id

  # What is empty here is said so: else the provider plans it anew each time.
  pools = [
    {
      name                 = "batch"
      flavor_id            = "g2-gpu-16-64-1l40s"
      servergroup_policy   = "soft-anti-affinity"
      min_node_count       = 1
      max_node_count       = var.batch_nodes
      boot_volume_size     = 50
      boot_volume_type     = "standard"
      auto_healing_enabled = true
      is_public_ipv4       = false
      labels               = {}
      taints               = { dedicated = "batch:NoSchedule" }
      crio_config          = {}
      kubelet_config       = {}
      security_group_ids   = []
    },
    {
      name                 = "workers"
      flavor_id            = "g1-standard-2-4"
      servergroup_policy   = "soft-anti-affinity"
      min_node_count       = 1
      max_node_count       = 2
      boot_volume_size     = 50
      boot_volume_type     = "standard"
      auto_healing_enabled = true
      is_public_ipv4       = false
      labels               = { tier = "web" }
      taints               = {}
      crio_config          = {}
      kubelet_config       = {}
      security_group_ids   = []
    },
  ]

  authentication = {
    oidc = {
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

  cni = {
    cloud_k8s_cluster_provider = "cilium"
    cilium = {
      hubble_relay = true
      hubble_ui    = true
    }
  }

  csi = {
    nfs = { vast_enabled = true }
  }

  # On the machines with a GPU, with Kubernetes 1.31 or 1.32.
  add_ons = {
    slurm = {
      enabled       = true
      file_share_id = gcore_cloud_file_share.slurm.id
      ssh_key_ids   = [gcore_cloud_ssh_key.main.id]
      worker_count  = 1
    }
  }

  logging = {
    enabled               = true
    destination_region_id = 1
    topic_name            = "${var.name}-logs"
    retention_policy      = { period = 7 }
  }
}

data "gcore_cloud_k8s_cluster_kubeconfig" "main" {
  cluster_name = gcore_cloud_k8s_cluster.main.name
}
