resource "gcore_servergroup" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = var.step == "replace" ? "apart-two" : "apart"
  policy     = "anti-affinity"
}

resource "gcore_servergroup" "near" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "near"
  policy     = "affinity"
}

resource "gcore_servergroup" "soft" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "soft"
  policy     = "soft-anti-affinity"
}

data "gcore_servergroup" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = gcore_servergroup.main.name

  lifecycle {
    postcondition {
      condition     = self.id == gcore_servergroup.main.id && self.policy == "anti-affinity"
      error_message = "Another group was found."
    }
  }
}

output "imports" {
  value = {
    "gcore_servergroup.main" = "${local.place}:${gcore_servergroup.main.id}"
    "gcore_servergroup.near" = "${local.place}:${gcore_servergroup.near.id}"
    "gcore_servergroup.soft" = "${local.place}:${gcore_servergroup.soft.id}"
  }
}
