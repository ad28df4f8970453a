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
  protocol         = "TCP"
  lb_algorithm     = "ROUND_ROBIN"
}
