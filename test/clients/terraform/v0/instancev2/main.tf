variable "public_key" {
  type = string
}

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

resource "gcore_securitygroup" "one" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "one"

  security_group_rules {
    direction = "egress"
    ethertype = "IPv4"
    protocol  = "any"
  }
}

resource "gcore_securitygroup" "two" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "two"

  security_group_rules {
    direction = "egress"
    ethertype = "IPv4"
    protocol  = "tcp"
  }
}

resource "gcore_keypair" "main" {
  project_id  = var.project_id
  sshkey_name = "laptop"
  public_key  = var.public_key
}

resource "gcore_servergroup" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "apart"
  policy     = "anti-affinity"

  # It names the machines that it has, once there are any.
  lifecycle {
    ignore_changes = [instance]
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

resource "gcore_instancev2" "main" {
  project_id   = var.project_id
  region_id    = var.region_id
  name         = var.step == "create" ? "web" : "web-two"
  flavor_id    = var.step == "create" ? "g1-standard-1-2" : "g1-standard-2-4"
  keypair_name = gcore_keypair.main.sshkey_name
  server_group = gcore_servergroup.main.id
  user_data    = base64encode(var.step == "replace" ? "#cloud-config\npackages: [nginx]" : "#cloud-config\n{}")
  metadata_map = var.step == "create" ? { stage = "trial" } : { stage = "live", owner = "shop" }

  volume {
    volume_id  = gcore_volume.boot.id
    boot_index = 0
  }

  dynamic "volume" {
    for_each = var.step == "create" ? [] : [gcore_volume.data.id]
    content {
      volume_id  = volume.value
      boot_index = 1
    }
  }

  interface {
    type            = "subnet"
    name            = "inner"
    network_id      = gcore_network.main.id
    subnet_id       = gcore_subnet.main.id
    security_groups = var.step == "create" ? [gcore_securitygroup.one.id] : [gcore_securitygroup.two.id]
  }

  dynamic "interface" {
    for_each = var.step == "create" ? [] : [gcore_subnet.second.id]
    content {
      type            = "subnet"
      name            = "second"
      network_id      = gcore_network.main.id
      subnet_id       = interface.value
      security_groups = [gcore_securitygroup.one.id]
    }
  }
}

data "gcore_instance" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = gcore_instancev2.main.name

  lifecycle {
    postcondition {
      condition     = self.id == gcore_instancev2.main.id && self.flavor_id == gcore_instancev2.main.flavor_id
      error_message = "Another machine was found."
    }
  }
}

output "imports" {
  value = { "gcore_instancev2.main" = "${local.place}:${gcore_instancev2.main.id}" }
}
