terraform {
  required_providers {
    gcore = {
      source = "G-Core/gcore"
    }
  }
}

# The environment names the address and the token.
provider "gcore" {
  polling_interval_seconds = 1
}

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
