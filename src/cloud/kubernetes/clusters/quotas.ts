/** Quotas that a cluster takes in addition to its nodes. The security group is the one that its nodes are in. */
export const CLUSTER_QUOTAS = { cluster_count: 1, firewall_count: 1 };
