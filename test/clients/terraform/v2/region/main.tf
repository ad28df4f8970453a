data "gcore_cloud_region" "main" {
  region_id         = var.region_id
  show_volume_types = true

  lifecycle {
    postcondition {
      condition     = contains(self.available_volume_types, "ssd_hiiops")
      error_message = "The region hasn't the volume types."
    }
  }
}

data "gcore_cloud_regions" "named" {
  display_name = data.gcore_cloud_region.main.display_name

  lifecycle {
    postcondition {
      condition     = [for each in self.items : each.id] == [var.region_id]
      error_message = "Not just the region of that name."
    }
  }
}
