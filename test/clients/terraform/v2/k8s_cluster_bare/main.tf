resource "gcore_cloud_ssh_key" "main" {
  project_id = var.project_id
  name       = "nodes"
  public_key = var.public_key
}

# The pool names no groups.
resource "gcore_cloud_k8s_cluster" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "shop"
  keypair    = gcore_cloud_ssh_key.main.name
  version    = "v1.34.4"

  pools = [
    {
      name               = "one"
      flavor_id          = "g1-standard-2-4"
      min_node_count     = 1
      max_node_count     = var.step == "update" ? 3 : 2
      servergroup_policy = "soft-anti-affinity"
      boot_volume_size   = 50
      boot_volume_type   = "standard"
    },
  ]
}

variable "public_key" {
  type = string
}
