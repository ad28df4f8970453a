resource "gcore_cloud_load_balancer" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "web"
  flavor     = "lb1-1-2"
}

resource "gcore_cloud_load_balancer_listener" "main" {
  project_id       = var.project_id
  region_id        = var.region_id
  load_balancer_id = gcore_cloud_load_balancer.main.id
  name             = "http"
  protocol         = "HTTP"
  protocol_port    = 80
}

resource "gcore_cloud_load_balancer_pool" "main" {
  project_id   = var.project_id
  region_id    = var.region_id
  listener_id  = gcore_cloud_load_balancer_listener.main.id
  name         = "http"
  protocol     = "HTTP"
  lb_algorithm = "ROUND_ROBIN"

  healthmonitor = {
    type        = "HTTP"
    delay       = 10
    max_retries = 3
    timeout     = 5
    http_method = "GET"
    url_path    = "/"
  }
}

output "imports" {
  value = {
    "gcore_cloud_load_balancer.main"          = "${var.project_id}/${var.region_id}/${gcore_cloud_load_balancer.main.id}"
    "gcore_cloud_load_balancer_listener.main" = "${var.project_id}/${var.region_id}/${gcore_cloud_load_balancer_listener.main.id}"
    "gcore_cloud_load_balancer_pool.main"     = "${var.project_id}/${var.region_id}/${gcore_cloud_load_balancer_pool.main.id}"
  }
}
