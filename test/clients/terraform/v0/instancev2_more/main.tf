# Other kinds of interfaces and settings.
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
  project_id       = var.project_id
  region_id        = var.region_id
  type             = "ip_address"
  network_id       = gcore_network.main.id
  subnet_id        = gcore_subnet.main.id
  fixed_ip_address = "10.10.0.50"
  is_vip           = false
}

resource "gcore_volume" "boot" {
  project_id = var.project_id
  region_id  = var.region_id
  count      = 2
  name       = "boot-${count.index}"
  type_name  = "standard"
  size       = 10
  image_id   = data.gcore_image.debian.id
}

resource "gcore_instancev2" "external" {
  project_id      = var.project_id
  region_id       = var.region_id
  name_template   = "web-{ip_octets}"
  flavor_id       = "g1-standard-1-2"
  username        = "deploy"
  password        = "correct-Horse-7"
  allow_app_ports = false
  vm_state        = var.step == "update" ? "stopped" : "active"

  volume {
    volume_id  = gcore_volume.boot[0].id
    boot_index = 0
  }

  interface {
    type            = "external"
    name            = "outer"
    ip_family       = "ipv4"
    security_groups = [data.gcore_securitygroup.default.id]
  }
}

resource "gcore_instancev2" "reserved" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "reserved"
  flavor_id  = "g1-standard-1-2"

  configuration {
    key   = "colour"
    value = "blue"
  }

  volume {
    volume_id  = gcore_volume.boot[1].id
    boot_index = 0
  }

  interface {
    type            = "reserved_fixed_ip"
    name            = "kept"
    port_id         = gcore_reservedfixedip.main.port_id
    security_groups = [data.gcore_securitygroup.default.id]
  }
}
