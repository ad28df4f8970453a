resource "gcore_volume" "main" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "data"
  size       = 5
  type_name  = "standard"
}

resource "gcore_snapshot" "main" {
  project_id  = var.project_id
  region_id   = var.region_id
  name        = var.step == "replace" ? "evening" : "morning"
  volume_id   = gcore_volume.main.id
  description = "before the change"
  metadata    = var.step == "create" ? { stage = "trial" } : { stage = "live", owner = "shop" }
}

resource "gcore_volume" "copy" {
  project_id  = var.project_id
  region_id   = var.region_id
  name        = "copy"
  size        = 5
  type_name   = "standard"
  snapshot_id = gcore_snapshot.main.id
}

output "imports" {
  value = { "gcore_snapshot.main" = "${local.place}:${gcore_snapshot.main.id}" }
}
