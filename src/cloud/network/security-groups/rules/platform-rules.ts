import { ConflictError } from '../../../../lib/errors.ts';
import type { GroupChange } from '../group-change.ts';
import type { SecurityGroupRow } from '../store.ts';

/** The description by which the official clients recognise the platform's own rules, which they don't touch. */
export const PLATFORM_RULE = 'system';

/**
 * Protects the rules that a cluster's nodes need in their group.
 * @throws ConflictError
 */
export function refusePlatformRules(group: SecurityGroupRow, change: GroupChange): void {
  if (group.cluster_id === null) return;
  const { removed = [], replaced = [], added = [] } = change;
  const touched = new Set([...removed, ...replaced.map(({ id }) => id)]);
  const own = group.rules.find(({ id, description }) => touched.has(id) && description === PLATFORM_RULE);
  if (own) {
    throw new ConflictError(
      `Rule ${own.id} of security group ${group.name} has the description ${PLATFORM_RULE}: the nodes of its Kubernetes cluster need it. Leave it unchanged, and include it unchanged in requests that send all rules`,
    );
  }
  if ([...replaced, ...added].some(({ description }) => description === PLATFORM_RULE)) {
    throw new ConflictError(
      `In security group ${group.name}, which belongs to the nodes of a Kubernetes cluster, the description ${PLATFORM_RULE} is reserved for rules of the platform. Choose another description`,
    );
  }
}

/** The tag by which the official clients find the group of a cluster's nodes. Its value is the cluster's name. */
export const CLUSTER_TAG = 'gcloud_cluster_name';
