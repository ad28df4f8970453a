# Without a MAC, that of the port is meant.
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
  name                      = "machines"
  cidr                      = "10.10.0.0/24"
  connect_to_network_router = false
}

resource "gcore_reservedfixedip" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  type       = "subnet"
  subnet_id  = gcore_subnet.main.id

  allowed_address_pairs {
    ip_address = var.step == "update" ? "10.10.0.78" : "10.10.0.77"
  }
}
