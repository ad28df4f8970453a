# The router is ours, so the network makes none.
resource "gcore_network" "main" {
  project_id    = var.project_id
  region_id     = var.region_id
  name          = "${var.name}-network"
  create_router = false
  metadata_map  = var.tags
}

resource "gcore_subnet" "main" {
  project_id                = var.project_id
  region_id                 = var.region_id
  name                      = "${var.name}-subnet"
  network_id                = gcore_network.main.id
  cidr                      = var.cidr
  connect_to_network_router = false
  dns_nameservers           = ["1.1.1.1", "8.8.8.8"]
  metadata_map              = var.tags
}

resource "gcore_router" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "${var.name}-router"

  external_gateway_info {
    type        = "default"
    enable_snat = true
  }

  interfaces {
    type      = "subnet"
    subnet_id = gcore_subnet.main.id
  }
}

resource "gcore_securitygroup" "web" {
  project_id   = var.project_id
  region_id    = var.region_id
  name         = "${var.name}-web"
  description  = "Lets requests in"
  metadata_map = var.tags

  dynamic "security_group_rules" {
    for_each = var.open_ports
    content {
      direction      = "ingress"
      ethertype      = "IPv4"
      protocol       = "tcp"
      port_range_min = security_group_rules.value
      port_range_max = security_group_rules.value
    }
  }

  # The provider wants at least one rule of this direction.
  security_group_rules {
    direction = "egress"
    ethertype = "IPv4"
    protocol  = "any"
  }
}
