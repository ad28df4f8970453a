resource "gcore_cloud_security_group" "main" {
  count      = 2
  project_id = var.project_id
  region_id  = var.region_id
  name       = "web-${count.index}"
}

resource "gcore_cloud_security_group_rule" "tcp" {
  project_id       = var.project_id
  region_id        = var.region_id
  group_id         = gcore_cloud_security_group.main[0].id
  direction        = "ingress"
  ethertype        = "IPv4"
  protocol         = "tcp"
  port_range_min   = var.step == "replace" ? 443 : 80
  port_range_max   = var.step == "replace" ? 443 : 80
  remote_ip_prefix = "10.0.0.0/8"
  description      = "Web"
}

resource "gcore_cloud_security_group_rule" "group" {
  project_id      = var.project_id
  region_id       = var.region_id
  group_id        = gcore_cloud_security_group.main[0].id
  direction       = "ingress"
  remote_group_id = gcore_cloud_security_group.main[1].id
}

resource "gcore_cloud_security_group_rule" "out" {
  project_id = var.project_id
  region_id  = var.region_id
  group_id   = gcore_cloud_security_group.main[0].id
  direction  = "egress"
  ethertype  = "IPv6"
}
