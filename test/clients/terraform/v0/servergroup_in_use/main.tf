# Its own module: the group names the machines in it, which nobody can write down.
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

resource "gcore_servergroup" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "apart"
  policy     = "anti-affinity"
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
  project_id   = var.project_id
  region_id    = var.region_id
  name         = "web"
  flavor_id    = "g1-standard-1-2"
  server_group = gcore_servergroup.main.id

  volume {
    volume_id  = gcore_volume.boot.id
    boot_index = 0
  }

  interface {
    type            = "external"
    name            = "outer"
    security_groups = [data.gcore_securitygroup.default.id]
  }
}
