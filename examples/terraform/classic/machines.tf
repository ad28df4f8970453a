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

# The machine names its address, and not the other way round: given a port_id here, the machine would read the address back as
# existing_fip_id, and its next plan would take it away.
resource "gcore_floatingip" "web" {
  count      = 2
  project_id = var.project_id
  region_id  = var.region_id
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
    existing_fip_id = gcore_floatingip.web[count.index].id
  }

  # A public address needs a way out of the subnet, as long as it is there.
  depends_on = [gcore_router.main]
}
