# The network comes with a router of its own, which has the gateway's address in each subnet.
resource "gcore_cloud_network" "main" {
  name = "${var.name}-network"
  tags = var.tags
}

resource "gcore_cloud_network_subnet" "main" {
  name            = "${var.name}-subnet"
  network_id      = gcore_cloud_network.main.id
  cidr            = var.cidr
  ip_version      = 4 # unsaid, the provider replaces the subnet with every change
  dns_nameservers = ["1.1.1.1", "8.8.8.8"]
  tags            = var.tags
}

# A second way out.
resource "gcore_cloud_network_router" "main" {
  name = "${var.name}-router"

  interfaces = [{
    type      = "subnet"
    subnet_id = gcore_cloud_network_subnet.main.id
  }]
}

resource "gcore_cloud_security_group" "web" {
  name        = "${var.name}-web"
  description = "Lets requests in"
  tags        = var.tags
}

resource "gcore_cloud_security_group_rule" "open" {
  for_each       = toset([for port in var.open_ports : tostring(port)])
  group_id       = gcore_cloud_security_group.web.id
  direction      = "ingress"
  ethertype      = "IPv4"
  protocol       = "tcp"
  port_range_min = each.value
  port_range_max = each.value
}
