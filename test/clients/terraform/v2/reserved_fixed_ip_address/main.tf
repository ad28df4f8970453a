# With more than the type asks for.
resource "gcore_cloud_network" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "backend"
}

resource "gcore_cloud_network_subnet" "main" {
  count      = 2
  project_id = var.project_id
  region_id  = var.region_id
  network_id = gcore_cloud_network.main.id
  name       = "backend-${count.index}"
  cidr       = "10.2${count.index}.0.0/24"
}

resource "gcore_cloud_reserved_fixed_ip" "ip_address" {
  project_id = var.project_id
  region_id  = var.region_id
  type       = "ip_address"
  network_id = gcore_cloud_network.main.id
  subnet_id  = gcore_cloud_network_subnet.main[1].id
  ip_address = "10.21.0.${var.step == "replace" ? 201 : 200}"
  is_vip     = var.step == "update"
}

resource "gcore_cloud_reserved_fixed_ip" "subnet" {
  project_id = var.project_id
  region_id  = var.region_id
  type       = "subnet"
  network_id = gcore_cloud_network.main.id
  subnet_id  = gcore_cloud_network_subnet.main[0].id
  is_vip     = false
}
