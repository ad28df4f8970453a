# By ID: the data source of images can't read any image in this version.
locals {
  debian = "8e3f4b37-0007-48e0-ab8d-827ad984aa0b"
}

resource "gcore_cloud_volume" "boot" {
  count     = 2
  name      = "${var.name}-boot-${count.index + 1}"
  source    = "image"
  image_id  = local.debian
  type_name = "standard"
  size      = 10
  tags      = var.tags
}

resource "gcore_cloud_volume" "data" {
  count     = 2
  name      = "${var.name}-data-${count.index + 1}"
  source    = "new-volume"
  type_name = "standard"
  size      = var.data_size
  tags      = var.tags
}

# Reserved first, so that the public address knows its port before there is a machine: in this version, a public address that only
# the machine names is planned anew each time.
resource "gcore_cloud_reserved_fixed_ip" "web" {
  count     = 2
  type      = "subnet"
  subnet_id = gcore_cloud_network_subnet.main.id
}

resource "gcore_cloud_floating_ip" "web" {
  count            = 2
  port_id          = gcore_cloud_reserved_fixed_ip.web[count.index].port_id
  fixed_ip_address = gcore_cloud_reserved_fixed_ip.web[count.index].fixed_ip_address
}

resource "gcore_cloud_instance" "web" {
  count        = 2
  name         = "${var.name}-web-${count.index + 1}"
  flavor       = var.flavor
  ssh_key_name = gcore_cloud_ssh_key.main.name
  tags         = var.tags

  volumes = [
    { volume_id = gcore_cloud_volume.boot[count.index].id, boot_index = 0 },
    { volume_id = gcore_cloud_volume.data[count.index].id, boot_index = 1 },
  ]

  interfaces = [{
    type            = "reserved_fixed_ip"
    interface_name  = "main"
    port_id         = gcore_cloud_reserved_fixed_ip.web[count.index].port_id
    security_groups = [{ id = gcore_cloud_security_group.web.id }]
    floating_ip     = { source = "existing", existing_floating_id = gcore_cloud_floating_ip.web[count.index].id }
  }]
}
