data "gcore_cloud_regions" "all" {}

locals {
  region_id = [for each in data.gcore_cloud_regions.all.items : each.id if try(contains(each.file_share_types, "standard"), false)][0]
  fresh     = !contains(["update", "replace"], var.step)
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
  name       = local.fresh ? "documents" : "documents-two"
  protocol   = "NFS"
  type_name  = "standard"
  size       = local.fresh ? 1 : 2
  tags       = local.fresh ? { stage = "trial", team = "shop" } : { stage = "live" }

  network = {
    network_id = gcore_cloud_network.main.id
    subnet_id  = gcore_cloud_network_subnet.main.id
  }
}

# Grows, and nothing else.
resource "gcore_cloud_file_share" "growing" {
  project_id = var.project_id
  region_id  = local.region_id
  name       = "growing"
  protocol   = "NFS"
  size       = local.fresh ? 1 : 3

  network = {
    network_id = gcore_cloud_network_subnet.main.network_id
  }
}

resource "gcore_cloud_file_share_access_rule" "main" {
  project_id    = var.project_id
  region_id     = local.region_id
  file_share_id = gcore_cloud_file_share.main.id
  access_mode   = var.step == "replace" ? "ro" : "rw"
  ip_address    = "10.20.0.0/25"
}

data "gcore_cloud_file_share" "main" {
  project_id    = var.project_id
  region_id     = local.region_id
  file_share_id = gcore_cloud_file_share.main.id

  lifecycle {
    postcondition {
      condition     = self.size == gcore_cloud_file_share.main.size
      error_message = "Another file share was found."
    }
  }
}

data "gcore_cloud_file_shares" "named" {
  project_id = var.project_id
  region_id  = local.region_id
  name       = gcore_cloud_file_share.growing.name

  lifecycle {
    postcondition {
      condition     = [for each in self.items : each.id] == [gcore_cloud_file_share.growing.id]
      error_message = "Not just the file share of that name."
    }
  }
}
