resource "gcore_cloud_security_group" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "web"
  rules = var.step == "update" ? [
    { direction = "ingress", protocol = "tcp", port_range_min = 80, port_range_max = 80, remote_ip_prefix = "10.0.0.0/8" },
  ] : null
}

# The resource itself never reads its rules.
data "gcore_cloud_security_group" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  group_id   = gcore_cloud_security_group.main.id

  lifecycle {
    postcondition {
      condition     = length(self.security_group_rules) == (var.step == "update" ? 1 : 0)
      error_message = "The group hasn't its rule."
    }
  }
}
