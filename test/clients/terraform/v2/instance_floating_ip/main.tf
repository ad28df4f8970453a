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

resource "gcore_cloud_volume" "main" {
  count      = 2
  project_id = var.project_id
  region_id  = var.region_id
  name       = "boot-${count.index}"
  source     = "image"
  image_id   = "d30931af-8845-4913-a690-021a990a917f"
  size       = 10
}

resource "gcore_cloud_reserved_fixed_ip" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  type       = "subnet"
  subnet_id  = gcore_cloud_network_subnet.main.id
}

resource "gcore_cloud_floating_ip" "main" {
  project_id       = var.project_id
  region_id        = var.region_id
  port_id          = gcore_cloud_reserved_fixed_ip.main.port_id
  fixed_ip_address = gcore_cloud_reserved_fixed_ip.main.fixed_ip_address
}

# The floating IP is on the port already.
resource "gcore_cloud_instance" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = var.step == "update" ? "app-two" : "app"
  flavor     = "g1-standard-1-2"
  volumes    = [{ volume_id = gcore_cloud_volume.main[0].id, boot_index = 0 }]
  interfaces = [
    {
      type        = "reserved_fixed_ip"
      port_id     = gcore_cloud_reserved_fixed_ip.main.port_id
      floating_ip = { source = "existing", existing_floating_id = gcore_cloud_floating_ip.main.id }
    },
  ]
}

# Gets one of its own, and keeps it.
resource "gcore_cloud_instance" "new" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = var.step == "update" ? "web-two" : "web"
  flavor     = "g1-standard-1-2"
  volumes    = [{ volume_id = gcore_cloud_volume.main[1].id, boot_index = 0 }]
  interfaces = [
    {
      type        = "subnet"
      network_id  = gcore_cloud_network.main.id
      subnet_id   = gcore_cloud_network_subnet.main.id
      floating_ip = { source = "new" }
    },
  ]
}
