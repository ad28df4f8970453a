data "gcore_cloud_instances" "all" {
  project_id = var.project_id
  region_id  = var.region_id
}
