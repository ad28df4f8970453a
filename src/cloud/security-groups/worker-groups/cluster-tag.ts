/** By which the official clients find the security group of a cluster's nodes; its value is the cluster's name. */
export const CLUSTER_TAG = 'gcloud_cluster_name';
