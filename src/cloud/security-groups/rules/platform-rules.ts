import { ConflictError } from '../../../lib/errors.ts';
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
      `Rule ${own.id} of security group ${group.name}, described as ${PLATFORM_RULE}, is one that the nodes of its Kubernetes cluster need: leave it as it is, and send it unchanged where all rules are sent`,
    );
  }
  if ([...replaced, ...added].some(({ description }) => description === PLATFORM_RULE)) {
    throw new ConflictError(
      `In security group ${group.name}, that of the nodes of a Kubernetes cluster, the description ${PLATFORM_RULE} marks the rules of the platform: describe yours differently`,
    );
  }
}
