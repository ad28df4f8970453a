# The older resource, which only ever points to the newer.
resource "gcore_loadbalancer" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "edge"
  flavor     = "lb1-1-2"

  listener {
    name          = "http"
    protocol      = "HTTP"
    protocol_port = 80
  }
}
