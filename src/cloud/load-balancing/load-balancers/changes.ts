import { isDeepStrictEqual } from 'node:util';
import { change } from '../../../convergence/wants.ts';
import type { Database } from '../../../db/database.ts';
import type { Clock } from '../../../lib/clock.ts';
import { type FieldProblem, InvalidError, NotFoundError } from '../../../lib/errors.ts';
import { acceptedTags } from '../../../lib/tags-input.ts';
import { patchedTags } from '../../../lib/tags-patch.ts';
import type { Catalog } from '../../ground/catalog/service.ts';
import type { TagHolder } from '../../ground/metadata/service.ts';
import type { Scope } from '../../ground/projects/service.ts';
import type { Tasks } from '../../ground/tasks/service.ts';
import { lockFreeBalancer } from './locks.ts';
import { keepTopic, wantedLogging } from './log-forwarding.ts';
import type { UpdateLoadBalancer } from './schema.ts';
import type { LoadBalancers } from './service.ts';
import type { Edits } from './tree/edits.ts';
import { writeRow } from './tree/store.ts';
import { ADD_TAGS, DELETE_TAG, REPLACE_TAGS, type TreeTask, UPDATE } from './tree/tasks.ts';

type Tags = Record<string, string>;

/** Changes of a load balancer itself. All return the task, which has finished already if nothing changes. */
export interface LoadBalancerChanges {
  /** @throws NotFoundError, InvalidError, ConflictError while a task holds it */
  update(scope: Scope, id: string, request: UpdateLoadBalancer): Promise<string>;
  /** @throws NotFoundError, InvalidError, ConflictError */
  addTags(scope: Scope, id: string, tags: Tags): Promise<string>;
  /** @throws NotFoundError, InvalidError, ConflictError */
  replaceTags(scope: Scope, id: string, tags: Tags): Promise<string>;
  /** @throws NotFoundError, also for a tag that isn't there, ConflictError */
  removeTag(scope: Scope, id: string, key: string): Promise<string>;
  /** Changes tags at once, without a task. */
  tags: TagHolder;
}

export function createLoadBalancerChanges(deps: {
  database: Database;
  clock: Clock;
  catalog: Catalog;
  tasks: Pick<Tasks, 'want'>;
  edits: Edits;
  find: LoadBalancers['get'];
}): LoadBalancerChanges {
  const { clock, catalog, tasks, edits, find } = deps;

  const changeTags = (scope: Scope, task: TreeTask, id: string, data: object, plan: (tags: Tags) => Tags) =>
    edits.change(
      scope,
      task,
      async () => id,
      async (_tx, edit, balancer) => {
        await edit.update('load_balancers', balancer, { tags: plan(balancer.tags) });
        return { data };
      },
    );

  return {
    update: (scope, id, request) =>
      edits.change(
        scope,
        UPDATE,
        async () => id,
        async (tx, edit, balancer) => {
          const problems: FieldProblem[] = [];
          const logging = wantedLogging(catalog, scope, balancer, request.logging, problems);
          if (problems.length > 0) throw new InvalidError(problems);
          const { name, preferred_connectivity, admin_state_up } = request;
          await edit.update('load_balancers', balancer, {
            name: name ?? balancer.name,
            preferred_connectivity: preferred_connectivity ?? balancer.preferred_connectivity,
            admin_state_up: admin_state_up ?? balancer.admin_state_up,
            tags: patchedTags(balancer.tags, request.tags),
            logging,
          });
          if (!isDeepStrictEqual(logging, balancer.logging)) await keepTopic(tx, scope, logging, clock.now());
          return { data: request };
        },
      ),

    addTags: (scope, id, tags) =>
      changeTags(scope, ADD_TAGS, id, { tags }, (current) => patchedTags(current, tags, '')),
    replaceTags: (scope, id, tags) =>
      changeTags(scope, REPLACE_TAGS, id, { tags }, () => acceptedTags(tags, '')),
    removeTag: (scope, id, key) =>
      changeTags(scope, DELETE_TAG, id, { key }, (current) => {
        const { [key]: removed, ...left } = current;
        if (removed === undefined || !Object.hasOwn(current, key)) throw new NotFoundError('Tag', key);
        return left;
      }),

    tags: {
      read: async (scope, id) => {
        const { tags_v2: tags } = await find(scope, id);
        return { tags: Object.fromEntries(tags.map(({ key, value }) => [key, value])) };
      },
      async change(tx, scope, id, plan) {
        const balancer = await lockFreeBalancer(tx, scope, id);
        const tags = plan(balancer.tags);
        await writeRow(tx, 'load_balancers', balancer.id, { tags, updated_at: clock.now() });
        await tasks.want(tx, scope, [
          change('load_balancer', balancer.id, (spec) => ({ ...spec, metadata: tags })),
        ]);
      },
    },
  };
}
