resource "gcore_cloud_instance_image" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "own"
  url        = "https://images.example.com/own.qcow2"
  os_type    = "linux"
}
