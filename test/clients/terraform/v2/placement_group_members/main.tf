resource "gcore_cloud_volume" "boot" {
  count      = 2
  project_id = var.project_id
  region_id  = var.region_id
  name       = "boot-${count.index}"
  source     = "image"
  image_id   = "d30931af-8845-4913-a690-021a990a917f"
  size       = 10
}

resource "gcore_cloud_instance" "main" {
  count      = 2
  project_id = var.project_id
  region_id  = var.region_id
  name       = "app-${count.index}"
  flavor     = "g1-standard-1-2"
  volumes    = [{ volume_id = gcore_cloud_volume.boot[count.index].id, boot_index = 0 }]
  interfaces = [{ type = "external", ip_family = "ipv4" }]
}

resource "gcore_cloud_placement_group" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "apart"
  policy     = "anti-affinity"
  instances  = [for each in slice(gcore_cloud_instance.main, 0, var.step == "update" ? 1 : 2) : { instance_id = each.id }]
}
