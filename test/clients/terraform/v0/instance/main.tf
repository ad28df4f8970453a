# The older resource.
data "gcore_image" "debian" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "debian-12-x64"
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

resource "gcore_subnet" "second" {
  project_id                = var.project_id
  region_id                 = var.region_id
  network_id                = gcore_network.main.id
  name                      = "second"
  cidr                      = "10.11.0.0/24"
  connect_to_network_router = false
}

resource "gcore_securitygroup" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "web"

  security_group_rules {
    direction = "egress"
    ethertype = "IPv4"
    protocol  = "any"
  }
}

resource "gcore_volume" "boot" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "boot"
  type_name  = "standard"
  size       = 10
  image_id   = data.gcore_image.debian.id
}

resource "gcore_volume" "data" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "data"
  type_name  = "standard"
  size       = 5
}

resource "gcore_instance" "main" {
  project_id   = var.project_id
  region_id    = var.region_id
  name         = var.step == "create" ? "web" : "web-two"
  flavor_id    = var.step == "create" ? "g1-standard-1-2" : "g1-standard-2-4"
  metadata_map = var.step == "create" ? { stage = "trial" } : { stage = "live", owner = "shop" }

  volume {
    source     = "existing-volume"
    volume_id  = gcore_volume.boot.id
    boot_index = 0
  }

  dynamic "volume" {
    for_each = var.step == "create" ? [] : [gcore_volume.data.id]
    content {
      source     = "existing-volume"
      volume_id  = volume.value
      boot_index = 1
    }
  }

  interface {
    type            = "subnet"
    network_id      = gcore_network.main.id
    subnet_id       = gcore_subnet.main.id
    security_groups = [gcore_securitygroup.main.id]
  }

  dynamic "interface" {
    for_each = var.step == "create" ? [] : [gcore_subnet.second.id]
    content {
      type            = "subnet"
      network_id      = gcore_network.main.id
      subnet_id       = interface.value
      security_groups = [gcore_securitygroup.main.id]
    }
  }
}

output "imports" {
  value = { "gcore_instance.main" = "${local.place}:${gcore_instance.main.id}" }
}
