locals {
  fresh = !contains(["update", "replace"], var.step)
}

resource "gcore_cloud_load_balancer" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "web"
  flavor     = "lb1-1-2"
}

resource "gcore_cloud_load_balancer_listener" "http" {
  project_id          = var.project_id
  region_id           = var.region_id
  load_balancer_id    = gcore_cloud_load_balancer.main.id
  name                = local.fresh ? "http" : "http-two"
  protocol            = "HTTP"
  protocol_port       = var.step == "replace" ? 81 : 80
  allowed_cidrs       = local.fresh ? ["10.0.0.0/8", "192.168.0.0/16"] : ["10.0.0.0/8"]
  connection_limit    = local.fresh ? 5000 : 6000
  insert_x_forwarded  = false
  timeout_client_data = local.fresh ? 40000 : 50000
}

resource "gcore_cloud_load_balancer_listener" "tcp" {
  project_id       = var.project_id
  region_id        = var.region_id
  load_balancer_id = gcore_cloud_load_balancer.main.id
  name             = local.fresh ? "tcp" : "tcp-two"
  protocol         = "TCP"
  protocol_port    = 8080
}

resource "gcore_cloud_load_balancer_listener" "metrics" {
  project_id       = var.project_id
  region_id        = var.region_id
  load_balancer_id = gcore_cloud_load_balancer.main.id
  name             = "metrics"
  protocol         = "PROMETHEUS"
  protocol_port    = 9101
  allowed_cidrs    = ["10.0.0.0/8"]
  user_list = [
    { username = local.fresh ? "scraper" : "reader", encrypted_password = "$5$isRr.HJ1IrQP38.m$oViu3DJOpUG2ZsjCBtbITV3mqpxxbZfyWJojLPNSPO5" },
  ]
}

data "gcore_cloud_load_balancer_listener" "http" {
  project_id  = var.project_id
  region_id   = var.region_id
  listener_id = gcore_cloud_load_balancer_listener.http.id
  show_stats  = true

  lifecycle {
    postcondition {
      condition     = self.protocol_port == gcore_cloud_load_balancer_listener.http.protocol_port
      error_message = "Another listener was found."
    }
  }
}
