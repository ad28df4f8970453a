resource "gcore_cloud_placement_group" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "apart"
  policy     = var.step == "replace" ? "soft-anti-affinity" : "anti-affinity"
}

data "gcore_cloud_placement_group" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  group_id   = gcore_cloud_placement_group.main.id

  lifecycle {
    postcondition {
      condition     = self.policy == gcore_cloud_placement_group.main.policy
      error_message = "Another group was found."
    }
  }
}

output "imports" {
  value = { "gcore_cloud_placement_group.main" = "${var.project_id}/${var.region_id}/${gcore_cloud_placement_group.main.id}" }
}
