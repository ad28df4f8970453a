terraform {
  required_providers {
    gcore = {
      source = "G-Core/gcore"
    }
  }
}

# The environment names the address, the token, the project and the region.
provider "gcore" {}

# "create", "update" or "replace": what the module should look like now.
variable "step" {
  type = string
}
