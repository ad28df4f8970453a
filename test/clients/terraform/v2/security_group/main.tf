resource "gcore_cloud_security_group" "main" {
  project_id  = var.project_id
  region_id   = var.region_id
  name        = var.step != "update" ? "web" : "web-two"
  description = var.step != "update" ? "Lets the web in" : "Lets less in"
  tags        = var.step != "update" ? { stage = "trial", team = "shop" } : { stage = "live" }
}

resource "gcore_cloud_security_group" "plain" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "plain"
}

data "gcore_cloud_security_group" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  group_id   = gcore_cloud_security_group.main.id

  lifecycle {
    postcondition {
      condition     = self.name == gcore_cloud_security_group.main.name
      error_message = "Another group was found."
    }
  }
}

data "gcore_cloud_security_groups" "tagged" {
  project_id = var.project_id
  region_id  = var.region_id
  tag_key    = ["stage"]
  depends_on = [gcore_cloud_security_group.main]

  lifecycle {
    postcondition {
      condition     = [for each in self.items : each.id] == [gcore_cloud_security_group.main.id]
      error_message = "Not just the group with the tag."
    }
  }
}

output "imports" {
  value = {
    "gcore_cloud_security_group.main"  = "${var.project_id}/${var.region_id}/${gcore_cloud_security_group.main.id}"
    "gcore_cloud_security_group.plain" = "${var.project_id}/${var.region_id}/${gcore_cloud_security_group.plain.id}"
  }
}
