/** The tag by which the official clients find the group of a cluster's nodes. Its value is the cluster's name. */
export const CLUSTER_TAG = 'gcloud_cluster_name';
