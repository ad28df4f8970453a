data "gcore_image" "debian" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "debian-12-x64"
}

data "gcore_securitygroup" "default" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "default"
}

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

resource "gcore_reservedfixedip" "main" {
  project_id       = var.project_id
  region_id        = var.region_id
  type             = "ip_address"
  network_id       = gcore_network.main.id
  subnet_id        = gcore_subnet.main.id
  fixed_ip_address = "10.10.0.50"
}

resource "gcore_volume" "boot" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "boot"
  type_name  = "standard"
  size       = 10
  image_id   = data.gcore_image.debian.id
}

resource "gcore_instancev2" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "web"
  flavor_id  = "g1-standard-1-2"

  volume {
    volume_id  = gcore_volume.boot.id
    boot_index = 0
  }

  interface {
    type            = "reserved_fixed_ip"
    name            = "main"
    port_id         = gcore_reservedfixedip.main.port_id
    security_groups = [data.gcore_securitygroup.default.id]
  }
}

resource "gcore_loadbalancerv2" "main" {
  project_id     = var.project_id
  region_id      = var.region_id
  name           = "edge"
  flavor         = "lb1-1-2"
  vip_network_id = gcore_network.main.id
  vip_subnet_id  = gcore_subnet.main.id
}

resource "gcore_lblistener" "main" {
  project_id      = var.project_id
  region_id       = var.region_id
  loadbalancer_id = gcore_loadbalancerv2.main.id
  name            = "http"
  protocol        = "HTTP"
  protocol_port   = 80
}

resource "gcore_lbpool" "main" {
  project_id      = var.project_id
  region_id       = var.region_id
  loadbalancer_id = gcore_loadbalancerv2.main.id
  listener_id     = gcore_lblistener.main.id
  name            = "web"
  protocol        = "HTTP"
  lb_algorithm    = "ROUND_ROBIN"
}

resource "gcore_lbmember" "main" {
  project_id    = var.project_id
  region_id     = var.region_id
  pool_id       = gcore_lbpool.main.id
  instance_id   = gcore_instancev2.main.id
  address       = gcore_reservedfixedip.main.fixed_ip_address
  protocol_port = 8081
  weight        = var.step == "update" ? 7 : 5
}
