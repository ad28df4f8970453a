locals {
  fresh = !contains(["update", "replace"], var.step)
}

resource "gcore_cloud_network" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = local.fresh ? "backend" : "backend-two"
  type       = var.step == "replace" ? "vlan" : "vxlan"
  tags       = local.fresh ? { stage = "trial", team = "shop" } : { stage = "live", owner = "shop" }
}

data "gcore_cloud_network" "by_id" {
  project_id = var.project_id
  region_id  = var.region_id
  network_id = gcore_cloud_network.main.id

  lifecycle {
    postcondition {
      condition     = self.name == gcore_cloud_network.main.name && self.type == gcore_cloud_network.main.type
      error_message = "Another network was found."
    }
  }
}

data "gcore_cloud_network" "by_name" {
  project_id = var.project_id
  region_id  = var.region_id

  find_one_by = {
    name = gcore_cloud_network.main.name
  }

  lifecycle {
    postcondition {
      condition     = self.id == gcore_cloud_network.main.id
      error_message = "Another network was found."
    }
  }
}

data "gcore_cloud_networks" "tagged" {
  project_id    = var.project_id
  region_id     = var.region_id
  tag_key_value = jsonencode({ stage = gcore_cloud_network.main.tags.stage })

  lifecycle {
    postcondition {
      condition     = [for each in self.items : each.id] == [gcore_cloud_network.main.id]
      error_message = "Not just the network with the tag."
    }
  }
}

output "imports" {
  value = { "gcore_cloud_network.main" = "${var.project_id}/${var.region_id}/${gcore_cloud_network.main.id}" }
}
