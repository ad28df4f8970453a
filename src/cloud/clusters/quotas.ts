/** What a cluster takes of the quotas beside its nodes; the security group is the one that they are in. */
export const CLUSTER_QUOTAS = { cluster_count: 1, firewall_count: 1 };
