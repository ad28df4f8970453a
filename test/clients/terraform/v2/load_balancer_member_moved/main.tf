resource "gcore_cloud_load_balancer" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "web"
  flavor     = "lb1-1-2"
}

resource "gcore_cloud_load_balancer_pool" "main" {
  project_id       = var.project_id
  region_id        = var.region_id
  load_balancer_id = gcore_cloud_load_balancer.main.id
  name             = "web"
  protocol         = "HTTP"
  lb_algorithm     = "ROUND_ROBIN"

  healthmonitor = {
    type        = "HTTP"
    delay       = 10
    max_retries = 3
    timeout     = 5
    http_method = "GET"
  }

  lifecycle {
    ignore_changes = [members]
  }
}

resource "gcore_cloud_load_balancer_pool_member" "main" {
  project_id    = var.project_id
  region_id     = var.region_id
  pool_id       = gcore_cloud_load_balancer_pool.main.id
  address       = var.step == "update" ? "192.0.2.8" : "192.0.2.7"
  protocol_port = 8080
}
