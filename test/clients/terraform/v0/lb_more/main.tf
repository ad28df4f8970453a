# Other kinds of listeners, pools and addresses.
variable "certificate" {
  type = string
}

variable "certificate_chain" {
  type = string
}

variable "private_key" {
  type = string
}

resource "gcore_secret" "main" {
  project_id        = var.project_id
  region_id         = var.region_id
  count             = 2
  name              = "site-${count.index}"
  certificate       = var.certificate
  certificate_chain = var.certificate_chain
  private_key       = var.private_key
}

resource "gcore_loadbalancerv2" "main" {
  project_id             = var.project_id
  region_id              = var.region_id
  name                   = "edge"
  flavor                 = "lb1-1-2"
  vip_ip_family          = "ipv4"
  preferred_connectivity = var.step == "update" ? "L3" : "L2"
}

resource "gcore_lblistener" "tls" {
  project_id      = var.project_id
  region_id       = var.region_id
  loadbalancer_id = gcore_loadbalancerv2.main.id
  name            = "tls"
  protocol        = "TERMINATED_HTTPS"
  protocol_port   = 443
  secret_id       = var.step == "update" ? gcore_secret.main[1].id : gcore_secret.main[0].id
  sni_secret_id   = var.step == "update" ? [gcore_secret.main[0].id] : [gcore_secret.main[1].id]
}

resource "gcore_lblistener" "prometheus" {
  project_id      = var.project_id
  region_id       = var.region_id
  loadbalancer_id = gcore_loadbalancerv2.main.id
  name            = "metrics"
  protocol        = "PROMETHEUS"
  protocol_port   = 8101

  user_list {
    username           = "reader"
    encrypted_password = var.step == "update" ? "$5$isRr.HJ1IrQP38.m$oViu3DJOpUG2ZsjCBtbITV3mqpxxbZfyWJojLPNSPO5" : "$5$isRr.HJ1IrQP38.n$oViu3DJOpUG2ZsjCBtbITV3mqpxxbZfyWJojLPNSPO5"
  }
}

resource "gcore_lblistener" "tcp" {
  project_id      = var.project_id
  region_id       = var.region_id
  loadbalancer_id = gcore_loadbalancerv2.main.id
  name            = "tcp"
  protocol        = "TCP"
  protocol_port   = 5432
}

resource "gcore_lblistener" "udp" {
  project_id      = var.project_id
  region_id       = var.region_id
  loadbalancer_id = gcore_loadbalancerv2.main.id
  name            = "udp"
  protocol        = "UDP"
  protocol_port   = 53
}

resource "gcore_lbpool" "tcp" {
  project_id      = var.project_id
  region_id       = var.region_id
  loadbalancer_id = gcore_loadbalancerv2.main.id
  listener_id     = gcore_lblistener.tcp.id
  name            = "tcp"
  protocol        = "TCP"
  lb_algorithm    = "SOURCE_IP"

  health_monitor {
    type        = "TCP"
    delay       = 10
    timeout     = 5
    max_retries = 2
  }
}

resource "gcore_lbpool" "udp" {
  project_id      = var.project_id
  region_id       = var.region_id
  loadbalancer_id = gcore_loadbalancerv2.main.id
  listener_id     = gcore_lblistener.udp.id
  name            = "udp"
  protocol        = "UDP"
  lb_algorithm    = "ROUND_ROBIN"

  session_persistence {
    type                    = "SOURCE_IP"
    persistence_granularity = "255.255.255.255"
    persistence_timeout     = 180
  }
}

# On the load balancer alone, without a monitor.
resource "gcore_lbpool" "plain" {
  project_id      = var.project_id
  region_id       = var.region_id
  loadbalancer_id = gcore_loadbalancerv2.main.id
  name            = "plain"
  protocol        = "HTTP"
  lb_algorithm    = "ROUND_ROBIN"
}

output "imports" {
  value = {
    "gcore_lblistener.tls" = "${local.place}:${gcore_lblistener.tls.id}:${gcore_loadbalancerv2.main.id}"
    "gcore_lbpool.tcp"     = "${local.place}:${gcore_lbpool.tcp.id}"
  }
}
