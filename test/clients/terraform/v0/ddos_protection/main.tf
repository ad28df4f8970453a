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

data "gcore_ddos_profile_template" "main" {
  project_id  = var.project_id
  region_id   = var.region_id
  template_id = 65
}

data "gcore_ddos_profile_template" "by_name" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "web_service_v1"

  lifecycle {
    postcondition {
      condition     = self.id == data.gcore_ddos_profile_template.main.id
      error_message = "Another template was found."
    }
  }
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
    type            = "external"
    name            = "outer"
    security_groups = [data.gcore_securitygroup.default.id]
  }
}

resource "gcore_ddos_protection" "main" {
  project_id       = var.project_id
  region_id        = var.region_id
  ip_address       = one(gcore_instancev2.main.interface).ip_address
  bm_instance_id   = gcore_instancev2.main.id
  profile_template = data.gcore_ddos_profile_template.main.template_id
  active           = true
  bgp              = true

  fields {
    base_field  = 272
    field_value = jsonencode(var.step == "update" ? 60 : 50)
  }
}

output "imports" {
  value = { "gcore_ddos_protection.main" = "${local.place}:${gcore_ddos_protection.main.id}" }
}
