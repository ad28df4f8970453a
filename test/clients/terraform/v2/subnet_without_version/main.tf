resource "gcore_cloud_network" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "backend"
}

resource "gcore_cloud_network_subnet" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  network_id = gcore_cloud_network.main.id
  name       = var.step == "update" ? "backend-two" : "backend"
  cidr       = "10.20.0.0/24"
}
