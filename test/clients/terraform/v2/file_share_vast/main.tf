resource "gcore_cloud_file_share" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "fast"
  protocol   = "NFS"
  type_name  = "vast"
  size       = 10

  share_settings = {
    allowed_characters = "LCD"
    path_length        = "LCD"
    root_squash        = var.step != "update"
  }
}

output "imports" {
  value = { "gcore_cloud_file_share.main" = "${var.project_id}/${var.region_id}/${gcore_cloud_file_share.main.id}" }
}
