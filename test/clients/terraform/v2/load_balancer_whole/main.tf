# With its listeners and pools in the same resource.
resource "gcore_cloud_load_balancer" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "web"
  flavor     = "lb1-1-2"

  listeners = [
    {
      name          = "http"
      protocol      = "HTTP"
      protocol_port = 80
      pools = [
        {
          name         = "http"
          protocol     = "HTTP"
          lb_algorithm = "ROUND_ROBIN"
          healthmonitor = {
            type        = "HTTP"
            delay       = 10
            max_retries = 3
            timeout     = 5
            http_method = "GET"
          }
          members = [{ address = "192.0.2.7", protocol_port = 8080 }]
        },
      ]
    },
  ]
}
