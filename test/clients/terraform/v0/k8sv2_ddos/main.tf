variable "public_key" {
  type = string
}

resource "gcore_keypair" "main" {
  project_id  = var.project_id
  sshkey_name = "laptop"
  public_key  = var.public_key
}

resource "gcore_k8sv2" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "guarded"
  keypair    = gcore_keypair.main.sshkey_name
  version    = "v1.34.5"

  pool {
    name               = "main"
    flavor_id          = "g1-standard-2-4"
    servergroup_policy = "soft-anti-affinity"
    boot_volume_size   = 10
    boot_volume_type   = "standard"
    min_node_count     = 1
    max_node_count     = 1
    is_public_ipv4     = true
  }

  ddos_profile {
    enabled          = true
    profile_template = 65

    fields {
      base_field  = 272
      field_value = jsonencode(var.step == "update" ? 60 : 50)
    }
  }
}
