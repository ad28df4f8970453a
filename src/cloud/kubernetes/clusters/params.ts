import { PROJECT_REGION_COLUMNS } from '../../../lib/versioned.ts';

/**
 * The specification has cloud operations under v1, the published contract has clusters under v2. The operations are
 * the same; a suffix tells their IDs apart.
 */
export const CLUSTER_BASES = [
  { path: '/cloud/v1/k8s/clusters/:project_id/:region_id', suffix: '' },
  { path: '/cloud/v2/k8s/clusters/:project_id/:region_id', suffix: 'V2' },
] as const;
export type ClusterBase = (typeof CLUSTER_BASES)[number];

/** The last part of the path. `check_limits` is an operation and no cluster, whatever the method is. */
export const CLUSTER_NAME = ':cluster_name(^(?!check_limits$).*$)';

/** Which columns the parameters of a cluster's address are. */
export const CLUSTER_COLUMNS = { ...PROJECT_REGION_COLUMNS, cluster_name: 'name' };
