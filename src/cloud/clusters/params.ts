/**
 * The specification's cloud operations carry v1, the published contract has clusters under v2. They are the same
 * operations, told apart by a suffix of their ids.
 */
export const CLUSTER_BASES = [
  { path: '/cloud/v1/k8s/clusters/:project_id/:region_id', suffix: '' },
  { path: '/cloud/v2/k8s/clusters/:project_id/:region_id', suffix: 'V2' },
] as const;
export type ClusterBase = (typeof CLUSTER_BASES)[number];

/** The last part of an address; the name of a question is no cluster, whatever the method is. */
export const CLUSTER_NAME = ':cluster_name(^(?!check_limits$).*$)';
