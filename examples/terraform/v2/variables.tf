variable "name" {
  description = "Begins every name, so that two copies can stand side by side."
  type        = string
  default     = "shop"
}

variable "public_key" {
  description = "Your public SSH key, such as the content of ~/.ssh/id_ed25519.pub."
  type        = string
}

variable "cidr" {
  type    = string
  default = "10.10.0.0/24"
}

variable "flavor" {
  description = "Size of the machines."
  type        = string
  default     = "g1-standard-1-2"
}

variable "data_size" {
  description = "GiB of each machine's data volume. It can grow in place."
  type        = number
  default     = 10
}

variable "open_ports" {
  description = "TCP ports that the machines answer on."
  type        = list(number)
  default     = [22, 80]
}

variable "weights" {
  description = "How the load balancer shares requests between the machines."
  type        = list(number)
  default     = [1, 1]
}

variable "kubernetes_version" {
  type    = string
  default = "v1.32.13"
}

variable "scan_interval" {
  description = "How often the autoscaler looks."
  type        = string
  default     = "10s"
}

variable "batch_nodes" {
  description = "How many nodes the second pool may have."
  type        = number
  default     = 2
}

variable "tags" {
  type    = map(string)
  default = { environment = "demo" }
}
