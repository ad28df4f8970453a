resource "gcore_cloud_secret" "main" {
  project_id         = var.project_id
  region_id          = var.region_id
  name               = "web"
  payload_wo_version = 1

  payload = {
    certificate_wo       = var.certificate
    certificate_chain_wo = var.certificate_chain
    private_key_wo       = var.private_key
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

output "imports" {
  value = { "gcore_cloud_secret.main" = "${var.project_id}/${var.region_id}/${gcore_cloud_secret.main.id}" }
}
