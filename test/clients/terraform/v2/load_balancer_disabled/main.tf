resource "gcore_cloud_load_balancer" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "web"
  flavor     = "lb1-1-2"
}

# Not to be in use before the update.
resource "gcore_cloud_load_balancer_listener" "main" {
  project_id       = var.project_id
  region_id        = var.region_id
  load_balancer_id = gcore_cloud_load_balancer.main.id
  name             = "http"
  protocol         = "HTTP"
  protocol_port    = 80
  admin_state_up   = var.step == "update"
}

data "gcore_cloud_load_balancer_listener" "main" {
  project_id  = var.project_id
  region_id   = var.region_id
  listener_id = gcore_cloud_load_balancer_listener.main.id

  lifecycle {
    postcondition {
      condition     = self.admin_state_up == gcore_cloud_load_balancer_listener.main.admin_state_up
      error_message = "The listener is in use."
    }
  }
}
