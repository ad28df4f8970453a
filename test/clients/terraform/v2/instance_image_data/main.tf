data "gcore_cloud_instance_image" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  image_id   = "d30931af-8845-4913-a690-021a990a917f"
}
