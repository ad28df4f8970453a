# A region offers one kind of shares.
resource "gcore_network" "main" {
  project_id    = var.project_id
  region_id     = 2
  name          = "storage"
  type          = "vlan"
  create_router = false
}

resource "gcore_subnet" "main" {
  project_id                = var.project_id
  region_id                 = 2
  network_id                = gcore_network.main.id
  name                      = "storage"
  cidr                      = "10.10.0.0/24"
  connect_to_network_router = false
}

resource "gcore_file_share" "standard" {
  project_id = var.project_id
  region_id  = 2
  name       = var.step == "create" ? "home" : "home-two"
  protocol   = "NFS"
  size       = var.step == "create" ? 20 : 25
  type_name  = "standard"
  tags       = var.step == "create" ? { stage = "trial" } : { owner = "shop" }

  network {
    network_id = gcore_network.main.id
    subnet_id  = gcore_subnet.main.id
  }

  access {
    ip_address  = "10.95.129.0/24"
    access_mode = "ro"
  }

  dynamic "access" {
    for_each = var.step == "create" ? [] : ["10.95.130.0/24"]
    content {
      ip_address  = access.value
      access_mode = "rw"
    }
  }
}

resource "gcore_file_share" "vast" {
  project_id = var.project_id
  region_id  = var.region_id
  name       = "fast"
  protocol   = "NFS"
  size       = 10
  type_name  = "vast"

  share_settings {
    allowed_characters = "LCD"
    path_length        = "LCD"
    root_squash        = var.step == "create"
  }
}

data "gcore_file_share" "main" {
  project_id = var.project_id
  region_id  = 2
  name       = gcore_file_share.standard.name

  lifecycle {
    postcondition {
      condition     = self.id == gcore_file_share.standard.id && self.size == gcore_file_share.standard.size
      error_message = "Another share was found."
    }
  }
}

output "imports" {
  value = {
    "gcore_file_share.standard" = "${var.project_id}:2:${gcore_file_share.standard.id}"
    "gcore_file_share.vast"     = "${local.place}:${gcore_file_share.vast.id}"
  }
}
