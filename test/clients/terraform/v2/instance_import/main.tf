resource "gcore_cloud_volume" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "boot"
  source     = "image"
  image_id   = "d30931af-8845-4913-a690-021a990a917f"
  size       = 10
}

# With nothing that an import can't find.
resource "gcore_cloud_instance" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "app"
  flavor     = "g1-standard-1-2"
  volumes    = [{ volume_id = gcore_cloud_volume.main.id }]
  interfaces = [{ type = "external" }]
  tags       = { stage = "live" }
}

output "imports" {
  value = { "gcore_cloud_instance.main" = "${var.project_id}/${var.region_id}/${gcore_cloud_instance.main.id}" }
}
