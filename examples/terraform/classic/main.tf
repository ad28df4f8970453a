terraform {
  required_providers {
    gcore = {
      source  = "G-Core/gcore"
      version = "~> 0.34.3"
    }
  }
}

# Reads GCORE_API_ENDPOINT and GCORE_PERMANENT_TOKEN.
provider "gcore" {}

resource "gcore_keypair" "main" {
  project_id  = var.project_id
  sshkey_name = var.name
  public_key  = var.public_key
}
