resource "gcore_cloud_volume" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "data"
  source     = "new-volume"
  size       = 5
}

output "imports" {
  value = { "gcore_cloud_volume.main" = "${var.project_id}/${var.region_id}/${gcore_cloud_volume.main.id}" }
}
