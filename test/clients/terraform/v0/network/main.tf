resource "gcore_network" "main" {
  project_id    = var.project_id
  region_id     = var.region_id
  name          = var.step == "update" ? "backend-two" : "backend"
  type          = "vxlan"
  create_router = false
  metadata_map  = var.step == "update" ? { stage = "live", owner = "shop" } : { stage = "trial" }
}

data "gcore_network" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = gcore_network.main.name

  lifecycle {
    postcondition {
      condition     = self.id == gcore_network.main.id && self.type == "vxlan"
      error_message = "Another network was found."
    }
  }
}

output "imports" {
  value = { "gcore_network.main" = "${var.project_id}:${var.region_id}:${gcore_network.main.id}" }
}
