# Tags and size change in one go.
resource "gcore_cloud_volume" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "data"
  source     = "new-volume"
  type_name  = "standard"
  size       = var.step != "update" ? 5 : 7
  tags       = var.step != "update" ? { stage = "trial" } : { stage = "live" }
}
