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
  type       = "subnet"
  subnet_id  = gcore_cloud_network_subnet.main.id
}

resource "gcore_cloud_security_group" "main" {
  for_each   = toset(["old", "new"])
  project_id = var.project_id
  region_id  = var.region_id
  name       = each.key
}

resource "gcore_cloud_volume" "main" {
  for_each   = toset(["boot", "one", "two"])
  project_id = var.project_id
  region_id  = var.region_id
  name       = each.key
  source     = each.key == "boot" ? "image" : "new-volume"
  image_id   = each.key == "boot" ? "d30931af-8845-4913-a690-021a990a917f" : null
  size       = 10
}

# Changes its groups and its data volume.
resource "gcore_cloud_instance" "main" {
  project_id      = var.project_id
  region_id       = var.region_id
  name            = "app"
  flavor          = "g1-standard-1-2"
  security_groups = [{ id = gcore_cloud_security_group.main[var.step == "update" ? "new" : "old"].id }]

  volumes = [
    { volume_id = gcore_cloud_volume.main["boot"].id, boot_index = 0 },
    { volume_id = gcore_cloud_volume.main[var.step == "update" ? "two" : "one"].id, boot_index = -1 },
  ]
  interfaces = [
    { type = "external", ip_family = "ipv4" },
    { type = "subnet", network_id = gcore_cloud_network.main.id, subnet_id = gcore_cloud_network_subnet.main.id },
    { type = "reserved_fixed_ip", port_id = gcore_cloud_reserved_fixed_ip.main.port_id },
  ]
}
