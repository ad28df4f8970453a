import type { Transaction } from '../../../db/database.ts';
import type { FieldProblem } from '../../../lib/errors.ts';
import {
  type LogForwarding,
  type LogForwardingInput,
  loggingProblems,
  mergedForwarding,
} from '../../../lib/log-forwarding.ts';
import type { Catalog } from '../../ground/catalog/service.ts';
import { keepTopicOf } from '../../ground/logging/service.ts';
import type { Scope } from '../../ground/projects/service.ts';

/** Returns the logging after a request, and adds its problems to those that are known. */
export function wantedLogging(
  catalog: Catalog,
  { regionId }: Scope,
  balancer: { id: string; logging: LogForwarding | null },
  given: LogForwardingInput | undefined,
  problems: FieldProblem[],
): LogForwarding | null {
  if (!given) return balancer.logging;
  // A name may have letters that a topic can't.
  const wanted = mergedForwarding(balancer.logging, given, `lb-${balancer.id}`);
  const destinationRegionIds = catalog.loggingDestinations(regionId).map(({ region_id }) => region_id);
  problems.push(...loggingProblems(given, wanted, { destinationRegionIds }));
  return wanted;
}

/** Makes sure that the topic exists, if the load balancer logs at all. It stays when logging is switched off. */
export async function keepTopic(
  tx: Transaction,
  { projectId }: Scope,
  logging: LogForwarding | null,
  now: Date,
): Promise<void> {
  const { enabled = false, destination_region_id: regionId, topic_name: name } = logging ?? {};
  if (!enabled || typeof regionId !== 'number' || typeof name !== 'string') return;
  const retentionDays = logging?.retention_policy?.period;
  await keepTopicOf(tx, { projectId, regionId }, { name, retentionDays }, now);
}
