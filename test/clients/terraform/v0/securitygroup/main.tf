resource "gcore_securitygroup" "main" {
  project_id   = var.project_id
  region_id    = var.region_id
  name         = "web"
  description  = "What the web needs"
  metadata_map = var.step == "create" ? { stage = "trial" } : { stage = "live", owner = "shop" }

  security_group_rules {
    direction   = "egress"
    ethertype   = "IPv4"
    protocol    = "any"
    description = "out"
  }

  security_group_rules {
    direction        = "ingress"
    ethertype        = "IPv4"
    protocol         = "tcp"
    port_range_min   = 443
    port_range_max   = var.step == "create" ? 443 : 444
    description      = var.step == "create" ? "TLS" : "TLS, two ports"
    remote_ip_prefix = "10.0.0.0/8"
  }

  security_group_rules {
    direction = "ingress"
    ethertype = "IPv6"
    protocol  = "ipv6-icmp"
  }

  dynamic "security_group_rules" {
    for_each = var.step == "create" ? [] : [22, 2222]
    content {
      direction      = "ingress"
      ethertype      = "IPv4"
      protocol       = "tcp"
      port_range_min = security_group_rules.value
      port_range_max = security_group_rules.value
      description    = "SSH"
    }
  }

  dynamic "security_group_rules" {
    for_each = var.step == "create" ? [53] : []
    content {
      direction       = "ingress"
      ethertype       = "IPv4"
      protocol        = "udp"
      port_range_min  = security_group_rules.value
      port_range_max  = security_group_rules.value
      remote_group_id = gcore_securitygroup.clients.id
    }
  }
}

resource "gcore_securitygroup" "clients" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "clients"

  security_group_rules {
    direction = "egress"
    ethertype = "IPv4"
    protocol  = "tcp"
  }
}

data "gcore_securitygroup" "main" {
  project_id  = var.project_id
  region_id   = var.region_id
  name        = gcore_securitygroup.main.name
  metadata_kv = gcore_securitygroup.main.metadata_map

  lifecycle {
    postcondition {
      condition     = self.id == gcore_securitygroup.main.id && length(self.security_group_rules) >= 4
      error_message = "Another group was found."
    }
  }
}

output "imports" {
  value = {
    "gcore_securitygroup.main"    = "${local.place}:${gcore_securitygroup.main.id}"
    "gcore_securitygroup.clients" = "${local.place}:${gcore_securitygroup.clients.id}"
  }
}
