data "gcore_cloud_regions" "all" {}

locals {
  region_id = [for each in data.gcore_cloud_regions.all.items : each.id if try(contains(each.file_share_types, "standard"), false)][0]
}

resource "gcore_cloud_network" "main" {
  project_id = var.project_id
  region_id  = local.region_id
  name       = "files"
}

resource "gcore_cloud_network_subnet" "main" {
  project_id = var.project_id
  region_id  = local.region_id
  network_id = gcore_cloud_network.main.id
  name       = "files"
  cidr       = "10.20.0.0/24"
}

resource "gcore_cloud_file_share" "main" {
  project_id = var.project_id
  region_id  = local.region_id
  name       = "documents"
  protocol   = "NFS"
  size       = 1

  network = {
    network_id = gcore_cloud_network_subnet.main.network_id
  }
}

output "imports" {
  value = { "gcore_cloud_file_share.main" = "${var.project_id}/${local.region_id}/${gcore_cloud_file_share.main.id}" }
}
