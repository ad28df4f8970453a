resource "gcore_cloud_secret" "main" {
  project_id         = var.project_id
  region_id          = var.region_id
  name               = "web"
  expiration         = "2100-01-01T00:00:00Z"
  payload_wo_version = var.step == "replace" ? 2 : 1

  payload = {
    certificate_wo       = var.certificate
    certificate_chain_wo = var.certificate_chain
    private_key_wo       = var.private_key
  }
}

data "gcore_cloud_secret" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  secret_id  = gcore_cloud_secret.main.id

  lifecycle {
    postcondition {
      condition     = self.name == "web"
      error_message = "Another secret was found."
    }
  }
}

data "gcore_cloud_secrets" "all" {
  project_id = var.project_id
  region_id  = var.region_id
  depends_on = [gcore_cloud_secret.main]

  lifecycle {
    postcondition {
      condition     = [for each in self.items : each.id] == [gcore_cloud_secret.main.id]
      error_message = "Not just the secret."
    }
  }
}

variable "certificate" {
  type = string
}

variable "certificate_chain" {
  type = string
}

variable "private_key" {
  type = string
}
