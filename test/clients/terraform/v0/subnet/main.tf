resource "gcore_network" "main" {
  project_id    = var.project_id
  region_id     = var.region_id
  name          = "backend"
  create_router = false
}

resource "gcore_subnet" "main" {
  project_id                = var.project_id
  region_id                 = var.region_id
  network_id                = gcore_network.main.id
  name                      = var.step == "create" ? "machines" : "machines-two"
  cidr                      = var.step == "replace" ? "10.20.0.0/24" : "10.10.0.0/24"
  enable_dhcp               = true
  connect_to_network_router = false
  gateway_ip                = var.step == "replace" ? "10.20.0.254" : "10.10.0.254"
  dns_nameservers           = var.step == "create" ? ["8.8.8.8", "1.1.1.1"] : ["9.9.9.9"]
  metadata_map              = { stage = var.step }

  dynamic "host_routes" {
    for_each = var.step == "create" ? ["172.16.0.0/16"] : ["172.16.0.0/16", "172.17.0.0/16"]
    content {
      destination = host_routes.value
      nexthop     = var.step == "replace" ? "10.20.0.9" : "10.10.0.9"
    }
  }
}

resource "gcore_subnet" "plain" {
  project_id                = var.project_id
  region_id                 = var.region_id
  network_id                = gcore_network.main.id
  name                      = "plain"
  cidr                      = "10.30.0.0/24"
  connect_to_network_router = false
}

# Without a gateway.
resource "gcore_subnet" "closed" {
  project_id                = var.project_id
  region_id                 = var.region_id
  network_id                = gcore_network.main.id
  name                      = "closed"
  cidr                      = "10.40.0.0/24"
  gateway_ip                = "disable"
  connect_to_network_router = false
}

data "gcore_subnet" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = gcore_subnet.main.name
  network_id = gcore_network.main.id

  lifecycle {
    postcondition {
      condition     = self.id == gcore_subnet.main.id && self.cidr == gcore_subnet.main.cidr && self.gateway_ip == gcore_subnet.main.gateway_ip
      error_message = "Another subnet was found."
    }
  }
}

output "imports" {
  value = {
    "gcore_subnet.main"  = "${local.place}:${gcore_subnet.main.id}"
    "gcore_subnet.plain" = "${local.place}:${gcore_subnet.plain.id}"
  }
}
