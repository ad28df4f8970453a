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

resource "gcore_reservedfixedip" "external" {
  project_id = var.project_id
  region_id  = var.region_id
  type       = "external"
}

resource "gcore_reservedfixedip" "subnet" {
  project_id = var.project_id
  region_id  = var.region_id
  type       = "subnet"
  subnet_id  = gcore_subnet.main.id

  dynamic "allowed_address_pairs" {
    for_each = var.step == "create" ? [] : ["10.10.0.77"]
    content {
      ip_address  = allowed_address_pairs.value
      mac_address = "00:16:3e:5e:6c:00"
    }
  }
}

resource "gcore_reservedfixedip" "any" {
  project_id = var.project_id
  region_id  = var.region_id
  type       = "any_subnet"
  network_id = gcore_network.main.id
  ip_family  = "ipv4"
  depends_on = [gcore_subnet.main]
}

resource "gcore_reservedfixedip" "address" {
  project_id       = var.project_id
  region_id        = var.region_id
  type             = "ip_address"
  network_id       = gcore_network.main.id
  fixed_ip_address = var.step == "replace" ? "10.10.0.51" : "10.10.0.50"
  depends_on       = [gcore_subnet.main]
}

data "gcore_reservedfixedip" "main" {
  project_id       = var.project_id
  region_id        = var.region_id
  fixed_ip_address = gcore_reservedfixedip.address.fixed_ip_address

  lifecycle {
    postcondition {
      condition     = self.id == gcore_reservedfixedip.address.id && self.network_id == gcore_network.main.id
      error_message = "Another address was found."
    }
  }
}

output "imports" {
  value = {
    "gcore_reservedfixedip.external" = "${local.place}:${gcore_reservedfixedip.external.id}"
    "gcore_reservedfixedip.subnet"   = "${local.place}:${gcore_reservedfixedip.subnet.id}"
    "gcore_reservedfixedip.any"      = "${local.place}:${gcore_reservedfixedip.any.id}"
    "gcore_reservedfixedip.address"  = "${local.place}:${gcore_reservedfixedip.address.id}"
  }
}
