# Its own module, as the plan never gets empty: changes that the provider doesn't send.
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
  count             = 2
  name              = "site-${count.index}"
  certificate       = var.certificate
  certificate_chain = var.certificate_chain
  private_key       = var.private_key
}

resource "gcore_loadbalancerv2" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "edge"
  flavor     = "lb1-1-2"
}

resource "gcore_lblistener" "main" {
  project_id      = var.project_id
  region_id       = var.region_id
  loadbalancer_id = gcore_loadbalancerv2.main.id
  name            = var.step == "update" ? "tls-two" : "tls"
  protocol        = "TERMINATED_HTTPS"
  protocol_port   = 443
  secret_id       = gcore_secret.main[0].id
  sni_secret_id   = var.step == "update" ? [] : [gcore_secret.main[1].id]
}

resource "gcore_lbpool" "main" {
  project_id      = var.project_id
  region_id       = var.region_id
  loadbalancer_id = gcore_loadbalancerv2.main.id
  name            = var.step == "update" ? "web-two" : "web"
  protocol        = "HTTP"
  lb_algorithm    = "ROUND_ROBIN"
}
