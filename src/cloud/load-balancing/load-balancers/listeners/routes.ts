import type { Dialect } from '../../../../http/dialect.ts';
import { goneSignal } from '../../../../http/gone-signal.ts';
import { operations } from '../../../../http/operations.ts';
import type { Api } from '../../../../http/server.ts';
import { versioned } from '../../../../lib/versioned.ts';
import { ProjectRegionParams } from '../../../../lib/wire.ts';
import type { Platform } from '../../../../platform.ts';
import { deleteOrWait } from '../../../ground/tasks/behind/service.ts';
import { WAIT_TEXT, waitForTask } from '../../../ground/tasks/service.ts';
import { HELD, WAITS } from '../schema.ts';
import * as schema from './schema.ts';
import { createListener, getListener, listenerDeletion, listListeners, updateListener } from './service.ts';

const BASE = '/cloud/v1/lblisteners/:project_id/:region_id';
const ONE = `${BASE}/:listener_id`;
const VERSIONED = versioned('lblistener');
const tags = ['Load balancers'];

export function listenerRoutes(app: Api, dialect: Dialect, on: Platform): void {
  const api = operations(app, { dialect, tags, params: schema.ListenerParams });

  api.post(BASE, 'createListener', 'Create a listener of a load balancer', {
    description: `Starts one task, whose created_resources have the listener in listeners. ${HELD}`,
    params: ProjectRegionParams,
    body: schema.CreateListener,
    task: ({ scope, body }) => createListener(on, scope, body),
  });

  // Answers contain hashes of passwords.
  api.get(BASE, 'listListeners', 'List listeners of load balancers', {
    secretAnswer: true,
    description: 'Newest first.',
    params: ProjectRegionParams,
    query: schema.ListenerListQuery,
    answer: schema.ListenerList,
    handler: ({ scope, query }) => listListeners(on, scope, query),
  });

  api.get(ONE, 'getListener', 'Get a listener of a load balancer', {
    versioned: VERSIONED,
    secretAnswer: true,
    query: schema.ShowListenerQuery,
    answer: schema.ListenerAnswer,
    handler: ({ scope, params, query }) =>
      getListener(on, scope, params.listener_id, { stats: query.show_stats ?? false }),
  });

  api.patch(ONE, 'renameListener', 'Rename a listener and wait for completion', {
    secretAnswer: true,
    description: WAIT_TEXT,
    deprecated: true,
    body: schema.RenameListener,
    answer: schema.ListenerAnswer,
    handler: async ({ scope, params, body }, reply) => {
      const { listener_id: id } = params;
      const task = await updateListener(on, scope, id, body);
      const asked = { principal: scope.principal, gone: goneSignal(reply) };
      await waitForTask(on, task, `Listener ${id}`, asked);
      return getListener(on, scope, id);
    },
  });

  api.patch(
    '/cloud/v2/lblisteners/:project_id/:region_id/:listener_id',
    'updateListener',
    'Update a listener of a load balancer',
    {
      versioned: VERSIONED,
      description: `Fields that are left out stay. The task has finished already if nothing changes. ${HELD}`,
      body: schema.UpdateListener,
      task: ({ scope, params, body }) => updateListener(on, scope, params.listener_id, body),
    },
  );

  api.delete(ONE, 'deleteListener', 'Delete a listener of a load balancer', {
    description: `Deletes its L7 policies with it. Its default pool stays, unless delete_default_pool is true; then it returns 409 if something else uses the pool. ${WAITS}`,
    query: schema.DeleteListenerQuery,
    task: ({ scope, params, query }) =>
      deleteOrWait(on, scope, listenerDeletion, params.listener_id, {
        defaultPool: query.delete_default_pool ?? false,
      }),
  });
}
