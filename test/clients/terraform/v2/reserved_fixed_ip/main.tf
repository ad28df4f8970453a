locals {
  fresh = !contains(["update", "replace"], var.step)
}

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

resource "gcore_cloud_reserved_fixed_ip" "external" {
  project_id = var.project_id
  region_id  = var.region_id
  type       = "external"
  is_vip     = var.step == "update"
}

resource "gcore_cloud_reserved_fixed_ip" "subnet" {
  project_id = var.project_id
  region_id  = var.region_id
  type       = "subnet"
  subnet_id  = gcore_cloud_network_subnet.main.id
  is_vip     = !local.fresh
}

resource "gcore_cloud_reserved_fixed_ip" "any_subnet" {
  project_id = var.project_id
  region_id  = var.region_id
  type       = "any_subnet"
  network_id = gcore_cloud_network_subnet.main.network_id
}

resource "gcore_cloud_reserved_fixed_ip" "ip_address" {
  project_id = var.project_id
  region_id  = var.region_id
  type       = "ip_address"
  network_id = gcore_cloud_network_subnet.main.network_id
  ip_address = var.step == "replace" ? "10.20.0.201" : "10.20.0.200"
}

data "gcore_cloud_reserved_fixed_ip" "subnet" {
  project_id = var.project_id
  region_id  = var.region_id
  port_id    = gcore_cloud_reserved_fixed_ip.subnet.port_id

  lifecycle {
    postcondition {
      condition     = self.fixed_ip_address == gcore_cloud_reserved_fixed_ip.subnet.fixed_ip_address
      error_message = "Another address was found."
    }
  }
}

data "gcore_cloud_reserved_fixed_ips" "found" {
  project_id = var.project_id
  region_id  = var.region_id
  ip_address = gcore_cloud_reserved_fixed_ip.ip_address.ip_address
  depends_on = [gcore_cloud_reserved_fixed_ip.ip_address]

  lifecycle {
    postcondition {
      condition     = [for each in self.items : each.port_id] == [gcore_cloud_reserved_fixed_ip.ip_address.port_id]
      error_message = "Not just the reserved address."
    }
  }
}

output "imports" {
  value = {
    "gcore_cloud_reserved_fixed_ip.external" = "${var.project_id}/${var.region_id}/${gcore_cloud_reserved_fixed_ip.external.port_id}"
    "gcore_cloud_reserved_fixed_ip.subnet"   = "${var.project_id}/${var.region_id}/${gcore_cloud_reserved_fixed_ip.subnet.port_id}"
  }
}
