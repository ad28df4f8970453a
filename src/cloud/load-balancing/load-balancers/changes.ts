import { isDeepStrictEqual } from 'node:util';
import { change } from '../../../convergence/wants.ts';
import * as errors from '../../../lib/errors.ts';
import * as logForwarding from '../../../lib/log-forwarding.ts';
import { acceptedTags, patchedTags } from '../../../lib/tags.ts';
import type { Platform, Scope } from '../../../platform.ts';
import { keepTopicOf } from '../../ground/logging/service.ts';
import type { TagHolder } from '../../ground/metadata/service.ts';
import { wantChecked } from '../../ground/tasks/service.ts';
import { lockFreeBalancer } from './locks.ts';
import type { UpdateLoadBalancer } from './schema.ts';
import { getLoadBalancer } from './service.ts';
import { changeTree } from './tree/edits.ts';
import { writeRow } from './tree/store.ts';
import { ADD_TAGS, DELETE_TAG, REPLACE_TAGS, type TreeTask, UPDATE } from './tree/tasks.ts';

/** Returns the logging after a request, and adds its problems to those that are known. */
export function wantedLogging(
  { catalog }: Pick<Platform, 'catalog'>,
  { regionId }: Scope,
  balancer: { id: string; logging: logForwarding.LogForwarding | null },
  given: logForwarding.LogForwardingInput | undefined,
  problems: errors.FieldProblem[],
): logForwarding.LogForwarding | null {
  if (!given) return balancer.logging;
  // A name may have letters that a topic can't.
  const wanted = logForwarding.mergedForwarding(balancer.logging, given, `lb-${balancer.id}`);
  const destinationRegionIds = catalog.loggingDestinations(regionId).map(({ region_id }) => region_id);
  problems.push(...logForwarding.loggingProblems(given, wanted, { destinationRegionIds }));
  return wanted;
}

type Tags = Record<string, string>;

const changeTags = (on: Platform, scope: Scope, task: TreeTask, id: string, data: object, plan: (tags: Tags) => Tags) =>
  changeTree(
    on,
    scope,
    task,
    async () => id,
    async (_tx, edit, balancer) => {
      await edit.update('load_balancers', balancer, { tags: plan(balancer.tags) });
      return { data };
    },
  );

/** @throws NotFoundError, InvalidError, ConflictError while a task holds it */
export const updateLoadBalancer = (on: Platform, scope: Scope, id: string, request: UpdateLoadBalancer) =>
  changeTree(
    on,
    scope,
    UPDATE,
    async () => id,
    async (tx, edit, balancer) => {
      const problems: errors.FieldProblem[] = [];
      const logging = wantedLogging(on, scope, balancer, request.logging, problems);
      if (problems.length > 0) throw new errors.InvalidError(problems);
      const { name, preferred_connectivity, admin_state_up } = request;
      await edit.update('load_balancers', balancer, {
        name: name ?? balancer.name,
        preferred_connectivity: preferred_connectivity ?? balancer.preferred_connectivity,
        admin_state_up: admin_state_up ?? balancer.admin_state_up,
        tags: patchedTags(balancer.tags, request.tags),
        logging,
      });
      if (!isDeepStrictEqual(logging, balancer.logging)) await keepTopicOf(tx, scope, logging);
      return { data: request };
    },
  );

/** @throws NotFoundError, InvalidError, ConflictError */
export const addLoadBalancerTags = (on: Platform, scope: Scope, id: string, tags: Tags): Promise<string> =>
  changeTags(on, scope, ADD_TAGS, id, { tags }, (current) => patchedTags(current, tags, ''));

/** @throws NotFoundError, InvalidError, ConflictError */
export const replaceLoadBalancerTags = (on: Platform, scope: Scope, id: string, tags: Tags): Promise<string> =>
  changeTags(on, scope, REPLACE_TAGS, id, { tags }, () => acceptedTags(tags, ''));

/** @throws NotFoundError, also for a tag that isn't there, ConflictError */
export const removeLoadBalancerTag = (on: Platform, scope: Scope, id: string, key: string): Promise<string> =>
  changeTags(on, scope, DELETE_TAG, id, { key }, (current) => {
    const { [key]: removed, ...left } = current;
    if (removed === undefined || !Object.hasOwn(current, key)) throw new errors.NotFoundError('Tag', key);
    return left;
  });

/** Changes tags at once, without a task. */
export const loadBalancerTags: TagHolder = {
  read: async (on, scope, id) => {
    const { tags_v2: tags } = await getLoadBalancer(on, scope, id);
    return { tags: Object.fromEntries(tags.map(({ key, value }) => [key, value])) };
  },
  async change(on, tx, scope, id, plan) {
    const balancer = await lockFreeBalancer(tx, scope, id);
    const tags = plan(balancer.tags);
    await writeRow(tx, 'load_balancers', balancer.id, { tags, updated_at: tx.now });
    await wantChecked(on, tx, scope, [change('load_balancer', balancer.id, (spec) => ({ ...spec, metadata: tags }))]);
  },
};
