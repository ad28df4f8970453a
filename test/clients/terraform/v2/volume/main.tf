locals {
  fresh = !contains(["update", "replace"], var.step)
}

resource "gcore_cloud_volume" "empty" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = local.fresh ? "data" : "data-two"
  source     = "new-volume"
  type_name  = "standard"
  size       = 5
  tags       = local.fresh ? { stage = "trial", team = "shop" } : { stage = "live" }
}

resource "gcore_cloud_volume" "growing" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "growing"
  source     = "new-volume"
  size       = local.fresh ? 5 : 7
}

resource "gcore_cloud_volume" "image" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "boot"
  source     = "image"
  image_id   = "d30931af-8845-4913-a690-021a990a917f"
  type_name  = var.step == "replace" ? "standard" : "ssd_hiiops"
  size       = 10
}

data "gcore_cloud_volume" "empty" {
  project_id = var.project_id
  region_id  = var.region_id
  volume_id  = gcore_cloud_volume.empty.id

  lifecycle {
    postcondition {
      condition     = self.name == gcore_cloud_volume.empty.name
      error_message = "Another volume was found."
    }
  }
}

data "gcore_cloud_volumes" "named" {
  project_id = var.project_id
  region_id  = var.region_id
  name_part  = "grow"
  depends_on = [gcore_cloud_volume.growing]

  lifecycle {
    postcondition {
      condition     = [for each in self.items : each.id] == [gcore_cloud_volume.growing.id]
      error_message = "Not just the volume of that name."
    }
  }
}
