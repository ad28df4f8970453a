resource "gcore_loadbalancerv2" "web" {
  project_id     = var.project_id
  region_id      = var.region_id
  name           = "${var.name}-web"
  flavor         = "lb1-1-2"
  vip_network_id = gcore_network.main.id
  vip_subnet_id  = gcore_subnet.main.id
}

resource "gcore_lblistener" "http" {
  project_id      = var.project_id
  region_id       = var.region_id
  loadbalancer_id = gcore_loadbalancerv2.web.id
  name            = "${var.name}-http"
  protocol        = "HTTP"
  protocol_port   = 80
}

resource "gcore_lbpool" "http" {
  project_id      = var.project_id
  region_id       = var.region_id
  loadbalancer_id = gcore_loadbalancerv2.web.id
  listener_id     = gcore_lblistener.http.id
  name            = "${var.name}-http"
  protocol        = "HTTP"
  lb_algorithm    = "ROUND_ROBIN"

  health_monitor {
    type        = "HTTP"
    url_path    = "/"
    delay       = 10
    timeout     = 5
    max_retries = 3
  }
}

resource "gcore_lbmember" "web" {
  count         = 2
  project_id    = var.project_id
  region_id     = var.region_id
  pool_id       = gcore_lbpool.http.id
  address       = one(gcore_instancev2.web[count.index].interface).ip_address
  subnet_id     = gcore_subnet.main.id
  protocol_port = 80
  weight        = var.weights[count.index]
}
