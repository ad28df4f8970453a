terraform {
  required_providers {
    gcore = {
      source = "G-Core/gcore"
    }
  }
}

provider "gcore" {}

# "create", "update" or "replace": what the module should look like now.
variable "step" {
  type = string
}

variable "project_id" {
  type = number
}

variable "region_id" {
  type = number
}

locals {
  # What the ID of an import begins with.
  place = "${var.project_id}:${var.region_id}"
}
