data "gcore_image" "debian" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "debian-12-x64"
}

data "gcore_image" "ubuntu" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "ubuntu-22.04-x64"
}

data "gcore_image" "by_id" {
  project_id = var.project_id
  region_id  = var.region_id
  image_id   = data.gcore_image.debian.id

  lifecycle {
    postcondition {
      condition     = self.os_distro == "debian" && self.min_disk == data.gcore_image.debian.min_disk
      error_message = "Another image was found."
    }
  }
}

resource "gcore_volume" "boot" {
  project_id   = var.project_id
  region_id    = var.region_id
  name         = var.step == "create" ? "boot" : "boot-two"
  type_name    = var.step == "create" ? "standard" : "ssd_hiiops"
  size         = var.step == "create" ? 10 : 20
  image_id     = var.step == "replace" ? data.gcore_image.ubuntu.id : data.gcore_image.debian.id
  metadata_map = var.step == "create" ? { stage = "trial" } : { owner = "shop" }
}

resource "gcore_volume" "empty" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "empty"
  size       = 5
  type_name  = "standard"
}

data "gcore_volume" "main" {
  project_id  = var.project_id
  region_id   = var.region_id
  name        = gcore_volume.boot.name
  metadata_kv = gcore_volume.boot.metadata_map

  lifecycle {
    postcondition {
      condition     = self.id == gcore_volume.boot.id && self.size == gcore_volume.boot.size
      error_message = "Another volume was found."
    }
  }
}

output "imports" {
  value = {
    "gcore_volume.boot"  = "${local.place}:${gcore_volume.boot.id}"
    "gcore_volume.empty" = "${local.place}:${gcore_volume.empty.id}"
  }
}
