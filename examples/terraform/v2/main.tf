terraform {
  required_providers {
    gcore = {
      source  = "G-Core/gcore"
      version = "2.0.0-alpha.11"
    }
  }
}

# Reads GCORE_BASE_URL, GCORE_API_KEY, GCORE_CLOUD_PROJECT_ID and GCORE_CLOUD_REGION_ID.
provider "gcore" {
  polling_interval_seconds = 1
}

resource "gcore_cloud_ssh_key" "main" {
  name       = var.name
  public_key = var.public_key
}
