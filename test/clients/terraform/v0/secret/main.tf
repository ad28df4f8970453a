variable "certificate" {
  type = string
}

variable "certificate_chain" {
  type = string
}

variable "private_key" {
  type = string
}

resource "gcore_secret" "main" {
  project_id        = var.project_id
  region_id         = var.region_id
  name              = var.step == "replace" ? "site-two" : "site"
  certificate       = var.certificate
  certificate_chain = var.certificate_chain
  private_key       = var.private_key
  expiration        = "2035-12-28T19:14:44.213"
}

data "gcore_secret" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = gcore_secret.main.name

  lifecycle {
    postcondition {
      condition     = self.id == gcore_secret.main.id && self.status == "ACTIVE"
      error_message = "Another secret was found."
    }
  }
}

output "imports" {
  value = { "gcore_secret.main" = "${local.place}:${gcore_secret.main.id}" }
}
