locals {
  fresh = !contains(["update", "replace"], var.step)
}

resource "gcore_cloud_ssh_key" "main" {
  project_id        = var.project_id
  name              = "deploy"
  public_key        = var.step == "replace" ? var.other_public_key : var.public_key
  shared_in_project = local.fresh
}

data "gcore_cloud_ssh_key" "main" {
  project_id = var.project_id
  ssh_key_id = gcore_cloud_ssh_key.main.id

  lifecycle {
    postcondition {
      condition     = self.fingerprint == gcore_cloud_ssh_key.main.fingerprint
      error_message = "Another key was found."
    }
  }
}

data "gcore_cloud_ssh_keys" "named" {
  project_id = var.project_id
  name       = gcore_cloud_ssh_key.main.name

  lifecycle {
    postcondition {
      condition     = [for each in self.items : each.id] == [gcore_cloud_ssh_key.main.id]
      error_message = "Not just the key of that name."
    }
  }
}

variable "public_key" {
  type = string
}

variable "other_public_key" {
  type = string
}

output "imports" {
  value = { "gcore_cloud_ssh_key.main" = "${var.project_id}/${gcore_cloud_ssh_key.main.id}" }
}
