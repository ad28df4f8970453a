resource "gcore_network" "main" {
  project_id   = var.project_id
  region_id    = var.region_id
  name         = var.step == "create" ? "backend" : "backend-two"
  type         = "vxlan"
  metadata_map = var.step == "create" ? { stage = "trial" } : var.step == "update" ? { stage = "live", owner = "shop" } : {}
}

data "gcore_network" "main" {
  project_id  = var.project_id
  region_id   = var.region_id
  name        = gcore_network.main.name
  metadata_kv = gcore_network.main.metadata_map

  lifecycle {
    postcondition {
      condition     = self.id == gcore_network.main.id && self.type == "vxlan" && self.mtu == gcore_network.main.mtu
      error_message = "Another network was found."
    }
  }
}

output "imports" {
  value = { "gcore_network.main" = "${local.place}:${gcore_network.main.id}" }
}
