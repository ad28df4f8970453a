# A load balancer on a reserved address, and the address of another reserved.
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

resource "gcore_reservedfixedip" "before" {
  project_id = var.project_id
  region_id  = var.region_id
  type       = "subnet"
  subnet_id  = gcore_subnet.main.id
  is_vip     = false
}

resource "gcore_loadbalancerv2" "on_reserved" {
  project_id  = var.project_id
  region_id   = var.region_id
  name        = "on-reserved"
  flavor      = "lb1-1-2"
  vip_port_id = gcore_reservedfixedip.before.port_id
}

resource "gcore_loadbalancerv2" "main" {
  project_id     = var.project_id
  region_id      = var.region_id
  name           = "edge"
  flavor         = "lb1-1-2"
  vip_network_id = gcore_network.main.id
  vip_subnet_id  = gcore_subnet.main.id
}

resource "gcore_reservedfixedip" "after" {
  project_id = var.project_id
  region_id  = var.region_id
  type       = "port"
  port_id    = gcore_loadbalancerv2.main.vip_port_id
}

resource "gcore_floatingip" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  port_id    = gcore_loadbalancerv2.main.vip_port_id

  # One change of a port at a time.
  depends_on = [gcore_reservedfixedip.after]
}
