output "public_addresses" {
  value = gcore_cloud_floating_ip.web[*].floating_ip_address
}

output "private_addresses" {
  value = gcore_cloud_reserved_fixed_ip.web[*].fixed_ip_address
}

output "balancer_address" {
  value = gcore_cloud_load_balancer.web.vip_address
}

output "cluster_address" {
  value = data.gcore_cloud_k8s_cluster_kubeconfig.main.host
}

output "kubeconfig" {
  description = "tofu output -raw kubeconfig > demo.yaml"
  value       = data.gcore_cloud_k8s_cluster_kubeconfig.main.config
  sensitive   = true
}
