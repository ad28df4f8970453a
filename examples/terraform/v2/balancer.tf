# Without tags: once it has been changed in place, the provider takes listeners that are resources of their own for a part of the
# load balancer, and never again plans nothing.
resource "gcore_cloud_load_balancer" "web" {
  name           = "${var.name}-web"
  flavor         = "lb1-1-2"
  vip_network_id = gcore_cloud_network.main.id
  vip_subnet_id  = gcore_cloud_network_subnet.main.id
}

resource "gcore_cloud_load_balancer_listener" "http" {
  load_balancer_id = gcore_cloud_load_balancer.web.id
  name             = "${var.name}-http"
  protocol         = "HTTP"
  protocol_port    = 80
}

# A monitor that asks by HTTP, and says how: the provider never learns a method that isn't given here, and takes that for a fault of its own.
resource "gcore_cloud_load_balancer_pool" "http" {
  load_balancer_id = gcore_cloud_load_balancer.web.id
  listener_id      = gcore_cloud_load_balancer_listener.http.id
  name             = "${var.name}-http"
  protocol         = "HTTP"
  lb_algorithm     = "ROUND_ROBIN"

  healthmonitor = {
    type        = "HTTP"
    http_method = "GET"
    url_path    = "/"
    delay       = 10
    timeout     = 5
    max_retries = 3
  }
}

resource "gcore_cloud_load_balancer_pool_member" "web" {
  count         = 2
  pool_id       = gcore_cloud_load_balancer_pool.http.id
  address       = gcore_cloud_reserved_fixed_ip.web[count.index].fixed_ip_address
  subnet_id     = gcore_cloud_network_subnet.main.id
  protocol_port = 80
  weight        = var.weights[count.index]
}
