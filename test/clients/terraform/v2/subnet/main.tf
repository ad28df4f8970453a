locals {
  fresh = !contains(["update", "replace"], var.step)
}

resource "gcore_cloud_network" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "backend"
}

resource "gcore_cloud_network_subnet" "four" {
  project_id      = var.project_id
  region_id       = var.region_id
  network_id      = gcore_cloud_network.main.id
  name            = local.fresh ? "four" : "four-two"
  cidr            = var.step == "replace" ? "10.21.0.0/24" : "10.20.0.0/24"
  ip_version      = 4
  enable_dhcp     = true
  dns_nameservers = local.fresh ? ["1.1.1.1", "9.9.9.9"] : ["9.9.9.9"]
  gateway_ip      = var.step == "replace" ? "10.21.0.9" : "10.20.0.1"
  host_routes = local.fresh ? [
    { destination = "10.99.0.0/24", nexthop = "10.20.0.5" },
  ] : []
  tags = { stage = var.step }
}

# With nothing that has a default.
resource "gcore_cloud_network_subnet" "plain" {
  project_id = var.project_id
  region_id  = var.region_id
  network_id = gcore_cloud_network.main.id
  name       = "plain"
  cidr       = "10.30.0.0/24"
}

resource "gcore_cloud_network_subnet" "six" {
  project_id = var.project_id
  region_id  = var.region_id
  network_id = gcore_cloud_network.main.id
  name       = local.fresh ? "six" : "six-two"
  cidr       = "fd12:3456::/64"
  ip_version = 6
}

data "gcore_cloud_network_subnet" "four" {
  project_id = var.project_id
  region_id  = var.region_id
  subnet_id  = gcore_cloud_network_subnet.four.id

  lifecycle {
    postcondition {
      condition     = self.cidr == gcore_cloud_network_subnet.four.cidr
      error_message = "Another subnet was found."
    }
  }
}

data "gcore_cloud_network_subnets" "all" {
  project_id = var.project_id
  region_id  = var.region_id
  network_id = gcore_cloud_network.main.id
  depends_on = [
    gcore_cloud_network_subnet.four, gcore_cloud_network_subnet.plain, gcore_cloud_network_subnet.six,
  ]

  lifecycle {
    postcondition {
      condition     = length(self.items) == 3
      error_message = "Not the three subnets."
    }
  }
}

output "imports" {
  value = {
    "gcore_cloud_network_subnet.four"  = "${var.project_id}/${var.region_id}/${gcore_cloud_network_subnet.four.id}"
    "gcore_cloud_network_subnet.plain" = "${var.project_id}/${var.region_id}/${gcore_cloud_network_subnet.plain.id}"
    "gcore_cloud_network_subnet.six"   = "${var.project_id}/${var.region_id}/${gcore_cloud_network_subnet.six.id}"
  }
}
