# The address is on the port of the interface already.
data "gcore_image" "debian" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "debian-12-x64"
}

data "gcore_securitygroup" "default" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "default"
}

resource "gcore_network" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "backend"
}

resource "gcore_subnet" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  network_id = gcore_network.main.id
  name       = "machines"
  cidr       = "10.10.0.0/24"
}

resource "gcore_reservedfixedip" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  type       = "subnet"
  subnet_id  = gcore_subnet.main.id
}

resource "gcore_floatingip" "main" {
  project_id       = var.project_id
  region_id        = var.region_id
  port_id          = gcore_reservedfixedip.main.port_id
  fixed_ip_address = gcore_reservedfixedip.main.fixed_ip_address
}

resource "gcore_volume" "boot" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "boot"
  type_name  = "standard"
  size       = 10
  image_id   = data.gcore_image.debian.id
}

resource "gcore_instancev2" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = var.step == "update" ? "web-two" : "web"
  flavor_id  = "g1-standard-1-2"

  volume {
    volume_id  = gcore_volume.boot.id
    boot_index = 0
  }

  interface {
    type            = "reserved_fixed_ip"
    name            = "main"
    port_id         = gcore_reservedfixedip.main.port_id
    existing_fip_id = gcore_floatingip.main.id
    security_groups = [data.gcore_securitygroup.default.id]
  }
}
