resource "gcore_cloud_load_balancer" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "web"
  flavor     = "lb1-1-2"
}

# The address outlives the load balancer.
resource "gcore_cloud_reserved_fixed_ip" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  type       = "port"
  port_id    = gcore_cloud_load_balancer.main.vip_port_id
}
