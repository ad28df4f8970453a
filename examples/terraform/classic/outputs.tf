output "public_addresses" {
  value = gcore_floatingip.web[*].floating_ip_address
}

output "private_addresses" {
  value = [for machine in gcore_instancev2.web : one(machine.interface).ip_address]
}

output "balancer_address" {
  value = gcore_loadbalancerv2.web.vip_address
}

output "cluster_address" {
  value = data.gcore_k8sv2_kubeconfig.main.host
}

output "kubeconfig" {
  description = "tofu output -raw kubeconfig > demo.yaml"
  value       = data.gcore_k8sv2_kubeconfig.main.kubeconfig
  sensitive   = true
}
