variable "public_key" {
  type = string
}

variable "other_public_key" {
  type = string
}

resource "gcore_keypair" "main" {
  project_id  = var.project_id
  sshkey_name = "laptop"
  public_key  = var.step == "replace" ? var.other_public_key : var.public_key
}
