resource "gcore_cloud_project" "main" {
  name        = var.step == "update" ? "shop-two" : "shop"
  description = var.step == "update" ? "Sells more" : "Sells"
}

data "gcore_cloud_project" "main" {
  project_id = gcore_cloud_project.main.id

  lifecycle {
    postcondition {
      condition     = self.name == gcore_cloud_project.main.name
      error_message = "Another project was found."
    }
  }
}

data "gcore_cloud_projects" "named" {
  name = gcore_cloud_project.main.name

  lifecycle {
    postcondition {
      condition     = [for each in self.items : each.id] == [gcore_cloud_project.main.id]
      error_message = "Not just the project of that name."
    }
  }
}

output "imports" {
  value = { "gcore_cloud_project.main" = gcore_cloud_project.main.id }
}
