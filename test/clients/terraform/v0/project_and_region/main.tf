resource "gcore_network" "main" {
  project_name = data.gcore_project.main.name
  region_name  = data.gcore_region.main.name
  name         = "by-name"
}

data "gcore_project" "main" {
  name = var.project_name

  lifecycle {
    postcondition {
      condition     = self.id == tostring(var.project_id)
      error_message = "Another project was found."
    }
  }
}

data "gcore_region" "main" {
  name = "Port Halden"

  lifecycle {
    postcondition {
      condition     = self.id == tostring(var.region_id)
      error_message = "Another region was found."
    }
  }
}

variable "project_name" {
  type = string
}
