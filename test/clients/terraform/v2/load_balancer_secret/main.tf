resource "gcore_cloud_secret" "main" {
  count              = 2
  project_id         = var.project_id
  region_id          = var.region_id
  name               = "web-${count.index}"
  payload_wo_version = 1

  payload = {
    certificate_wo       = var.certificate
    certificate_chain_wo = var.certificate_chain
    private_key_wo       = var.private_key
  }
}

resource "gcore_cloud_load_balancer" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "web"
  flavor     = "lb1-1-2"
}

resource "gcore_cloud_load_balancer_listener" "main" {
  project_id       = var.project_id
  region_id        = var.region_id
  load_balancer_id = gcore_cloud_load_balancer.main.id
  name             = "https"
  protocol         = "TERMINATED_HTTPS"
  protocol_port    = 443
  secret_id        = gcore_cloud_secret.main[var.step == "update" ? 1 : 0].id
  sni_secret_id    = var.step == "update" ? [gcore_cloud_secret.main[0].id] : []
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
