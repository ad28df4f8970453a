# The platform chooses the external network.
resource "gcore_cloud_network_router" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "outside"

  external_gateway_info = {
    type = "default"
  }
}
