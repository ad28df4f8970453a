resource "gcore_network" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "backend"
}

resource "gcore_subnet" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  network_id = gcore_network.main.id
  name       = "machines"
  cidr       = "10.10.0.0/24"
}

resource "gcore_loadbalancerv2" "main" {
  project_id     = var.project_id
  region_id      = var.region_id
  name           = var.step == "create" ? "edge" : "edge-two"
  flavor         = var.step == "create" ? "lb1-1-2" : "lb1-2-4"
  vip_network_id = gcore_network.main.id
  vip_subnet_id  = gcore_subnet.main.id
  metadata_map   = var.step == "create" ? { stage = "trial" } : { stage = "live", owner = "shop" }
}

resource "gcore_lblistener" "main" {
  project_id             = var.project_id
  region_id              = var.region_id
  loadbalancer_id        = gcore_loadbalancerv2.main.id
  name                   = var.step == "create" ? "http" : "http-two"
  protocol               = "HTTP"
  protocol_port          = var.step == "replace" ? 8080 : 80
  insert_x_forwarded     = true
  allowed_cidrs          = var.step == "create" ? ["10.0.0.0/8"] : ["10.0.0.0/8", "192.168.0.0/16"]
  timeout_client_data    = var.step == "create" ? 60000 : 70000
  timeout_member_connect = 50000
  timeout_member_data    = 80000
  connection_limit       = 5000
}

resource "gcore_lbpool" "main" {
  project_id      = var.project_id
  region_id       = var.region_id
  loadbalancer_id = gcore_loadbalancerv2.main.id
  listener_id     = gcore_lblistener.main.id
  name            = var.step == "create" ? "web" : "web-two"
  protocol        = "HTTP"
  lb_algorithm    = var.step == "create" ? "LEAST_CONNECTIONS" : "ROUND_ROBIN"

  health_monitor {
    type             = "HTTP"
    delay            = var.step == "create" ? 20 : 30
    timeout          = 10
    max_retries      = 3
    max_retries_down = 4
    http_method      = "GET"
    url_path         = var.step == "create" ? "/" : "/healthz"
    expected_codes   = "200,204"
  }

  session_persistence {
    type        = "APP_COOKIE"
    cookie_name = var.step == "create" ? "session" : "visit"
  }
}

resource "gcore_lbmember" "one" {
  project_id    = var.project_id
  region_id     = var.region_id
  pool_id       = gcore_lbpool.main.id
  address       = "10.10.0.51"
  protocol_port = 8081
  weight        = var.step == "create" ? 5 : 7
  subnet_id     = gcore_subnet.main.id
}

resource "gcore_lbmember" "two" {
  project_id    = var.project_id
  region_id     = var.region_id
  pool_id       = gcore_lbpool.main.id
  address       = "10.10.0.52"
  protocol_port = 8081
  subnet_id     = gcore_subnet.main.id
}

resource "gcore_lbmember" "late" {
  project_id    = var.project_id
  region_id     = var.region_id
  count         = var.step == "create" ? 0 : 1
  pool_id       = gcore_lbpool.main.id
  address       = "10.10.0.53"
  protocol_port = 8081
}

data "gcore_loadbalancerv2" "main" {
  project_id  = var.project_id
  region_id   = var.region_id
  name        = gcore_loadbalancerv2.main.name
  metadata_kv = gcore_loadbalancerv2.main.metadata_map

  lifecycle {
    postcondition {
      condition     = self.id == gcore_loadbalancerv2.main.id && self.vip_address == gcore_loadbalancerv2.main.vip_address
      error_message = "Another load balancer was found."
    }
  }
}

data "gcore_loadbalancer" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = gcore_loadbalancerv2.main.name
  depends_on = [gcore_lblistener.main]

  lifecycle {
    postcondition {
      condition     = self.id == gcore_loadbalancerv2.main.id
      error_message = "Another load balancer was found."
    }
  }
}

data "gcore_lblistener" "main" {
  project_id      = var.project_id
  region_id       = var.region_id
  name            = gcore_lblistener.main.name
  loadbalancer_id = gcore_loadbalancerv2.main.id

  lifecycle {
    postcondition {
      condition     = self.id == gcore_lblistener.main.id && self.protocol_port == gcore_lblistener.main.protocol_port
      error_message = "Another listener was found."
    }
  }
}

data "gcore_lbpool" "main" {
  project_id      = var.project_id
  region_id       = var.region_id
  name            = gcore_lbpool.main.name
  loadbalancer_id = gcore_loadbalancerv2.main.id
  listener_id     = gcore_lblistener.main.id

  lifecycle {
    postcondition {
      condition     = self.id == gcore_lbpool.main.id && self.lb_algorithm == gcore_lbpool.main.lb_algorithm
      error_message = "Another pool was found."
    }
  }
}

output "imports" {
  value = {
    "gcore_loadbalancerv2.main" = "${local.place}:${gcore_loadbalancerv2.main.id}"
    "gcore_lblistener.main"     = "${local.place}:${gcore_lblistener.main.id}:${gcore_loadbalancerv2.main.id}"
    "gcore_lbpool.main"         = "${local.place}:${gcore_lbpool.main.id}"
    "gcore_lbmember.one"        = "${local.place}:${gcore_lbmember.one.id}:${gcore_lbpool.main.id}"
  }
}
