locals {
  fresh = !contains(["update", "replace"], var.step)
}

resource "gcore_cloud_ssh_key" "main" {
  project_id = var.project_id
  name       = "deploy"
  public_key = var.public_key
}

resource "gcore_cloud_security_group" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "app"
}

resource "gcore_cloud_volume" "main" {
  for_each   = toset(["boot", "data"])
  project_id = var.project_id
  region_id  = var.region_id
  name       = each.key
  source     = each.key == "boot" ? "image" : "new-volume"
  image_id   = each.key == "boot" ? "d30931af-8845-4913-a690-021a990a917f" : null
  size       = 10
}

resource "gcore_cloud_instance" "main" {
  project_id   = var.project_id
  region_id    = var.region_id
  name         = local.fresh ? "app" : "app-two"
  flavor       = "g1-standard-1-2"
  ssh_key_name = gcore_cloud_ssh_key.main.name
  user_data    = var.step == "replace" ? base64encode("#!/bin/sh\necho two") : base64encode("#!/bin/sh\necho one")
  tags         = local.fresh ? { stage = "trial", team = "shop" } : { stage = "live" }

  volumes = [
    { volume_id = gcore_cloud_volume.main["boot"].id, boot_index = 0 },
    { volume_id = gcore_cloud_volume.main["data"].id, boot_index = -1, attachment_tag = "data" },
  ]
  interfaces = [
    {
      type            = "external"
      ip_family       = "ipv4"
      security_groups = [{ id = gcore_cloud_security_group.main.id }]
    },
  ]
}

data "gcore_cloud_instance" "main" {
  project_id  = var.project_id
  region_id   = var.region_id
  instance_id = gcore_cloud_instance.main.id

  lifecycle {
    postcondition {
      condition     = self.name == gcore_cloud_instance.main.name && self.flavor.flavor_id == "g1-standard-1-2"
      error_message = "Another instance was found."
    }
  }
}

data "gcore_cloud_instances" "named" {
  project_id     = var.project_id
  region_id      = var.region_id
  name           = gcore_cloud_instance.main.name
  changes_since  = "2020-01-01T00:00:00Z"
  changes_before = "2100-01-01T00:00:00Z"

  lifecycle {
    postcondition {
      condition     = [for each in self.items : each.id] == [gcore_cloud_instance.main.id]
      error_message = "Not just the instance of that name."
    }
  }
}

variable "public_key" {
  type = string
}
