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

resource "gcore_reservedfixedip" "one" {
  project_id = var.project_id
  region_id  = var.region_id
  type       = "subnet"
  subnet_id  = gcore_subnet.main.id
}

resource "gcore_reservedfixedip" "two" {
  project_id = var.project_id
  region_id  = var.region_id
  type       = "subnet"
  subnet_id  = gcore_subnet.main.id
}

resource "gcore_floatingip" "main" {
  project_id       = var.project_id
  region_id        = var.region_id
  port_id          = var.step == "update" ? gcore_reservedfixedip.two.port_id : gcore_reservedfixedip.one.port_id
  fixed_ip_address = var.step == "update" ? gcore_reservedfixedip.two.fixed_ip_address : gcore_reservedfixedip.one.fixed_ip_address
  metadata_map     = var.step == "update" ? { stage = "live", owner = "shop" } : { stage = "trial" }
}

resource "gcore_floatingip" "free" {
  project_id   = var.project_id
  region_id    = var.region_id
  metadata_map = { use = "free" }
}

resource "gcore_floatingip" "late" {
  project_id       = var.project_id
  region_id        = var.region_id
  port_id          = var.step == "update" ? gcore_reservedfixedip.one.port_id : null
  fixed_ip_address = var.step == "update" ? gcore_reservedfixedip.one.fixed_ip_address : null
  depends_on       = [gcore_floatingip.main]
}

data "gcore_floatingip" "main" {
  project_id          = var.project_id
  region_id           = var.region_id
  floating_ip_address = gcore_floatingip.main.floating_ip_address

  lifecycle {
    postcondition {
      condition     = self.id == gcore_floatingip.main.id
      error_message = "Another address was found."
    }
  }
}

output "imports" {
  value = {
    "gcore_floatingip.main" = "${local.place}:${gcore_floatingip.main.id}"
    "gcore_floatingip.free" = "${local.place}:${gcore_floatingip.free.id}"
  }
}
