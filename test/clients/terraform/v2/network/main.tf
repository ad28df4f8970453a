resource "gcore_cloud_network" "main" {
  name = var.step == "create" ? "backend" : "backend-two"
  type = var.step == "replace" ? "vlan" : "vxlan"
  tags = var.step == "create" ? { stage = "trial" } : { stage = "live", owner = "shop" }
}
