resource "gcore_cloud_network" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "backend"
}

resource "gcore_cloud_network_subnet" "main" {
  for_each   = { front = "10.20.0.0/24", back = "10.30.0.0/24" }
  project_id = var.project_id
  region_id  = var.region_id
  network_id = gcore_cloud_network.main.id
  name       = each.key
  cidr       = each.value
}

resource "gcore_cloud_network_router" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "inner"

  interfaces = [
    { type = "subnet", subnet_id = gcore_cloud_network_subnet.main[var.step == "update" ? "back" : "front"].id },
  ]
  routes = var.step == "update" ? [{ destination = "192.168.70.0/24", nexthop = "10.30.0.77" }] : []
}
