resource "gcore_cloud_network" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "backend"
}

resource "gcore_cloud_network_subnet" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  network_id = gcore_cloud_network.main.id
  name       = "backend"
  cidr       = "10.20.0.0/24"
}

resource "gcore_cloud_reserved_fixed_ip" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  type       = "any_subnet"
  network_id = gcore_cloud_network_subnet.main.network_id
}

output "imports" {
  value = { "gcore_cloud_reserved_fixed_ip.main" = "${var.project_id}/${var.region_id}/${gcore_cloud_reserved_fixed_ip.main.port_id}" }
}
