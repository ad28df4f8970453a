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
  name       = "web"
  flavor_id  = "g1-standard-1-2"

  volume {
    volume_id  = gcore_volume.boot.id
    boot_index = 0
  }

  interface {
    type            = "subnet"
    name            = "inner"
    network_id      = gcore_network.main.id
    subnet_id       = gcore_subnet.main.id
    security_groups = [data.gcore_securitygroup.default.id]
  }
}

resource "gcore_port_allowed_address_pairs" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  port_id    = one(gcore_instancev2.main.interface).port_id

  allowed_address_pair {
    ip_address = "10.10.0.77"
  }

  allowed_address_pair {
    ip_address  = var.step == "update" ? "10.10.0.79" : "10.10.0.78"
    mac_address = "00:16:3e:5e:6c:00"
  }
}
