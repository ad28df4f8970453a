data "gcore_cloud_networks" "external" {
  project_id = var.project_id
  region_id  = var.region_id
  owned_by   = "any"
  external   = true
}

resource "gcore_cloud_network_router" "plain" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = var.step != "update" ? "plain" : "plain-two"
}

resource "gcore_cloud_network_router" "outside" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "outside"

  external_gateway_info = {
    type        = "manual"
    network_id  = data.gcore_cloud_networks.external.items[0].id
    enable_snat = var.step != "update"
  }
}

data "gcore_cloud_network_router" "plain" {
  project_id = var.project_id
  region_id  = var.region_id
  router_id  = gcore_cloud_network_router.plain.id

  lifecycle {
    postcondition {
      condition     = self.name == gcore_cloud_network_router.plain.name
      error_message = "Another router was found."
    }
  }
}

data "gcore_cloud_network_routers" "named" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = gcore_cloud_network_router.outside.name

  lifecycle {
    postcondition {
      condition     = [for each in self.items : each.id] == [gcore_cloud_network_router.outside.id]
      error_message = "Not just the router of that name."
    }
  }
}

output "imports" {
  value = {
    "gcore_cloud_network_router.plain"   = "${var.project_id}/${var.region_id}/${gcore_cloud_network_router.plain.id}"
    "gcore_cloud_network_router.outside" = "${var.project_id}/${var.region_id}/${gcore_cloud_network_router.outside.id}"
  }
}
