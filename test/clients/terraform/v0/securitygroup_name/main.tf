# Its own module, as the plan never gets empty.
resource "gcore_securitygroup" "main" {
  project_id  = var.project_id
  region_id   = var.region_id
  name        = var.step == "update" ? "web-two" : "web"
  description = var.step == "update" ? "new" : "old"

  security_group_rules {
    direction = "egress"
    ethertype = "IPv4"
    protocol  = "any"
  }
}
