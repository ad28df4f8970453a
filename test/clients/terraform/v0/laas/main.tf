resource "gcore_laas_topic" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = var.step == "replace" ? "access-two" : "access"
}

data "gcore_laas_hosts" "main" {
  project_id = var.project_id
  region_id  = var.region_id
}

data "gcore_laas_status" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  depends_on = [gcore_laas_topic.main]
}

output "imports" {
  value = { "gcore_laas_topic.main" = "${local.place}:${gcore_laas_topic.main.id}" }
}
