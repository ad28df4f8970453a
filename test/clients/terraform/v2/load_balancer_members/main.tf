resource "gcore_cloud_network" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "backend"
}

resource "gcore_cloud_network_subnet" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  network_id = gcore_cloud_network.main.id
  name       = "backend"
  cidr       = "10.20.0.0/24"
}

resource "gcore_cloud_load_balancer" "main" {
  project_id     = var.project_id
  region_id      = var.region_id
  name           = "web"
  flavor         = "lb1-1-2"
  vip_network_id = gcore_cloud_network.main.id
  vip_subnet_id  = gcore_cloud_network_subnet.main.id
}

resource "gcore_cloud_load_balancer_listener" "main" {
  project_id       = var.project_id
  region_id        = var.region_id
  load_balancer_id = gcore_cloud_load_balancer.main.id
  name             = "http"
  protocol         = "HTTP"
  protocol_port    = 80
}

# With a list of members.
resource "gcore_cloud_load_balancer_pool" "listed" {
  project_id             = var.project_id
  region_id              = var.region_id
  listener_id            = gcore_cloud_load_balancer_listener.main.id
  name                   = var.step != "update" ? "listed" : "listed-two"
  protocol               = "HTTP"
  lb_algorithm           = var.step != "update" ? "ROUND_ROBIN" : "LEAST_CONNECTIONS"
  timeout_member_connect = var.step != "update" ? 5000 : 6000
  timeout_member_data    = 40000

  healthmonitor = {
    type           = "HTTP"
    delay          = var.step != "update" ? 10 : 12
    max_retries    = 3
    timeout        = 5
    http_method    = "GET"
    url_path       = "/"
    expected_codes = "200,301-302"
  }
  session_persistence = var.step != "update" ? { type = "HTTP_COOKIE", cookie_name = null } : { type = "APP_COOKIE", cookie_name = "session" }

  members = [
    for number in var.step != "update" ? [11, 12] : [12, 13, 14] : {
      address       = "10.20.0.${number}"
      protocol_port = 8080
      subnet_id     = gcore_cloud_network_subnet.main.id
      weight        = 1
    }
  ]
}

# With members that are resources of their own.
resource "gcore_cloud_load_balancer_pool" "free" {
  project_id       = var.project_id
  region_id        = var.region_id
  load_balancer_id = gcore_cloud_load_balancer.main.id
  name             = "free"
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

resource "gcore_cloud_load_balancer_pool_member" "one" {
  project_id    = var.project_id
  region_id     = var.region_id
  pool_id       = gcore_cloud_load_balancer_pool.free.id
  address       = "10.20.0.21"
  protocol_port = 8080
  subnet_id     = gcore_cloud_network_subnet.main.id
  weight        = var.step != "update" ? 1 : 5
}

# After the other: a change of a member sends all members of the pool as they were before.
resource "gcore_cloud_load_balancer_pool_member" "two" {
  project_id    = var.project_id
  region_id     = var.region_id
  pool_id       = gcore_cloud_load_balancer_pool.free.id
  address       = "10.20.0.22"
  protocol_port = 8080
  subnet_id     = gcore_cloud_network_subnet.main.id
  weight        = var.step == "update" ? 7 : 1
  depends_on    = [gcore_cloud_load_balancer_pool_member.one]
}

data "gcore_cloud_load_balancer_pool" "listed" {
  project_id = var.project_id
  region_id  = var.region_id
  pool_id    = gcore_cloud_load_balancer_pool.listed.id

  lifecycle {
    postcondition {
      condition     = self.name == gcore_cloud_load_balancer_pool.listed.name
      error_message = "Another pool was found."
    }
  }
}
