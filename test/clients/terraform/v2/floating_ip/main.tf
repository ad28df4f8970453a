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

resource "gcore_cloud_reserved_fixed_ip" "main" {
  count      = 2
  project_id = var.project_id
  region_id  = var.region_id
  type       = "subnet"
  subnet_id  = gcore_cloud_network_subnet.main.id
}

resource "gcore_cloud_floating_ip" "free" {
  project_id = var.project_id
  region_id  = var.region_id
  tags       = var.step != "update" ? { stage = "trial", team = "shop" } : { stage = "live" }
}

# Moves from one port to the other.
resource "gcore_cloud_floating_ip" "bound" {
  project_id       = var.project_id
  region_id        = var.region_id
  port_id          = gcore_cloud_reserved_fixed_ip.main[var.step != "update" ? 0 : 1].port_id
  fixed_ip_address = gcore_cloud_reserved_fixed_ip.main[var.step != "update" ? 0 : 1].fixed_ip_address
}

# Leaves its port.
resource "gcore_cloud_floating_ip" "leaving" {
  project_id = var.project_id
  region_id  = var.region_id
  port_id    = var.step != "update" ? gcore_cloud_reserved_fixed_ip.main[1].port_id : null
}

data "gcore_cloud_floating_ip" "bound" {
  project_id     = var.project_id
  region_id      = var.region_id
  floating_ip_id = gcore_cloud_floating_ip.bound.id

  lifecycle {
    postcondition {
      condition     = self.floating_ip_address == gcore_cloud_floating_ip.bound.floating_ip_address
      error_message = "Another floating IP was found."
    }
  }
}

data "gcore_cloud_floating_ips" "tagged" {
  project_id = var.project_id
  region_id  = var.region_id
  tag_key    = ["stage"]
  depends_on = [gcore_cloud_floating_ip.free]

  lifecycle {
    postcondition {
      condition     = [for each in self.items : each.id] == [gcore_cloud_floating_ip.free.id]
      error_message = "Not just the floating IP with the tag."
    }
  }
}

output "imports" {
  value = {
    "gcore_cloud_floating_ip.free"  = "${var.project_id}/${var.region_id}/${gcore_cloud_floating_ip.free.id}"
    "gcore_cloud_floating_ip.bound" = "${var.project_id}/${var.region_id}/${gcore_cloud_floating_ip.bound.id}"
  }
}
