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

resource "gcore_cloud_load_balancer" "public" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = var.step != "update" ? "public" : "public-two"
  flavor     = "lb1-1-2"
  tags       = var.step != "update" ? { stage = "trial", team = "shop" } : { stage = "live" }
}

resource "gcore_cloud_load_balancer" "growing" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "growing"
  flavor     = var.step != "update" ? "lb1-1-2" : "lb1-2-4"
}

resource "gcore_cloud_load_balancer" "private" {
  project_id             = var.project_id
  region_id              = var.region_id
  name                   = "private"
  flavor                 = "lb1-1-2"
  vip_network_id         = gcore_cloud_network.main.id
  vip_subnet_id          = gcore_cloud_network_subnet.main.id
  preferred_connectivity = var.step != "update" ? "L2" : "L3"
}

resource "gcore_cloud_floating_ip" "main" {
  project_id       = var.project_id
  region_id        = var.region_id
  fixed_ip_address = gcore_cloud_load_balancer.private.vip_address
  port_id          = gcore_cloud_load_balancer.private.vip_port_id
}

resource "gcore_cloud_reserved_fixed_ip" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  type       = "external"
}

resource "gcore_cloud_load_balancer" "reserved" {
  project_id  = var.project_id
  region_id   = var.region_id
  name        = "reserved"
  flavor      = "lb1-1-2"
  vip_port_id = gcore_cloud_reserved_fixed_ip.main.port_id
}

data "gcore_cloud_load_balancer" "public" {
  project_id       = var.project_id
  region_id        = var.region_id
  load_balancer_id = gcore_cloud_load_balancer.public.id
  show_stats       = true
  with_ddos        = true

  lifecycle {
    postcondition {
      condition     = self.vip_address == gcore_cloud_load_balancer.public.vip_address
      error_message = "Another load balancer was found."
    }
  }
}

data "gcore_cloud_load_balancers" "named" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = gcore_cloud_load_balancer.public.name

  lifecycle {
    postcondition {
      condition     = contains([for each in self.items : each.id], gcore_cloud_load_balancer.public.id)
      error_message = "The load balancer of that name is missing."
    }
  }
}
