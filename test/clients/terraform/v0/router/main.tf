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
  name                      = "one"
  cidr                      = "10.10.0.0/24"
  connect_to_network_router = false
}

resource "gcore_subnet" "second" {
  project_id                = var.project_id
  region_id                 = var.region_id
  network_id                = gcore_network.main.id
  name                      = "two"
  cidr                      = "10.11.0.0/24"
  connect_to_network_router = false
}

resource "gcore_router" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = var.step == "update" ? "edge-two" : "edge"

  external_gateway_info {
    type        = "default"
    enable_snat = var.step != "update"
  }

  dynamic "interfaces" {
    for_each = var.step == "update" ? [gcore_subnet.main.id, gcore_subnet.second.id] : [gcore_subnet.main.id]
    content {
      type      = "subnet"
      subnet_id = interfaces.value
    }
  }

  routes {
    destination = "172.20.0.0/16"
    nexthop     = var.step == "update" ? "10.10.0.8" : "10.10.0.7"
  }
}

# Neither a gateway nor interfaces.
resource "gcore_router" "plain" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "plain"
}

data "gcore_router" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = gcore_router.main.name

  lifecycle {
    postcondition {
      condition     = self.id == gcore_router.main.id && self.status == "ACTIVE"
      error_message = "Another router was found."
    }
  }
}

output "imports" {
  value = { "gcore_router.main" = "${local.place}:${gcore_router.main.id}" }
}
