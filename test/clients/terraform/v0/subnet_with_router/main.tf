# The network's router serves it, and takes the gateway's address.
resource "gcore_network" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "routed"
}

resource "gcore_subnet" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  network_id = gcore_network.main.id
  name       = var.step == "update" ? "routed-two" : "routed"
  cidr       = "192.168.10.0/24"
}

output "imports" {
  value = {
    "gcore_network.main" = "${local.place}:${gcore_network.main.id}"
    "gcore_subnet.main"  = "${local.place}:${gcore_subnet.main.id}"
  }
}
