data "gcore_image" "debian" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "debian-12-x64"
}

resource "gcore_volume" "boot" {
  count        = 2
  project_id   = var.project_id
  region_id    = var.region_id
  name         = "${var.name}-boot-${count.index + 1}"
  type_name    = "standard"
  size         = 10
  image_id     = data.gcore_image.debian.id
  metadata_map = var.tags
}

resource "gcore_volume" "data" {
  count        = 2
  project_id   = var.project_id
  region_id    = var.region_id
  name         = "${var.name}-data-${count.index + 1}"
  type_name    = "standard"
  size         = var.data_size
  metadata_map = var.tags
}

resource "gcore_instancev2" "web" {
  count        = 2
  project_id   = var.project_id
  region_id    = var.region_id
  name         = "${var.name}-web-${count.index + 1}"
  flavor_id    = var.flavor
  keypair_name = gcore_keypair.main.sshkey_name
  metadata_map = var.tags

  volume {
    volume_id  = gcore_volume.boot[count.index].id
    boot_index = 0
  }

  volume {
    volume_id  = gcore_volume.data[count.index].id
    boot_index = 1
  }

  interface {
    type            = "subnet"
    name            = "main"
    network_id      = gcore_network.main.id
    subnet_id       = gcore_subnet.main.id
    security_groups = [gcore_securitygroup.web.id]
  }

  # A public address needs a way out of the subnet, as long as it is there.
  depends_on = [gcore_router.main]
}

# The address names its machine, and not the other way round: the provider doesn't see that existing_fip_id of a machine has changed.
resource "gcore_floatingip" "web" {
  count            = 2
  project_id       = var.project_id
  region_id        = var.region_id
  port_id          = one(gcore_instancev2.web[count.index].interface).port_id
  fixed_ip_address = one(gcore_instancev2.web[count.index].interface).ip_address
}
