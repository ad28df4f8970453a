# Its own module, as the plan never gets empty.
resource "gcore_network" "main" {
  project_id    = var.project_id
  region_id     = var.region_id
  name          = "backend"
  type          = var.step == "update" ? "vlan" : "vxlan"
  create_router = false
}
