import type { Dialect } from '../../../../http/dialect.ts';
import { goneSignal } from '../../../../http/gone-signal.ts';
import type { Api } from '../../../../http/server.ts';
import { versionedIn } from '../../../../lib/versioned.ts';
import { ProjectRegionParams } from '../../../../lib/wire.ts';
import type { Platform } from '../../../../platform.ts';
import { deleteOrWait } from '../../../ground/tasks/behind/service.ts';
import { WAIT_TEXT, waitForTask } from '../../../ground/tasks/service.ts';
import { HELD, WAITS } from '../schema.ts';
import {
  CreateListener,
  DeleteListenerQuery,
  ListenerAnswer,
  ListenerList,
  ListenerListQuery,
  ListenerParams,
  RenameListener,
  ShowListenerQuery,
  UpdateListener,
} from './schema.ts';
import { createListener, getListener, listenerDeletion, listListeners, updateListener } from './service.ts';

const BASE = '/cloud/v1/lblisteners/:project_id/:region_id';
const ONE = `${BASE}/:listener_id`;
const VERSIONED = versionedIn('lb_listeners', 'listener_id');
const tags = ['Load balancers'];

export function listenerRoutes(app: Api, dialect: Dialect, on: Platform): void {
  app.post(BASE, {
    config: { access: 'operate' },
    schema: {
      operationId: 'createListener',
      summary: 'Create a listener of a load balancer',
      description: `Starts one task, whose created_resources have the listener in listeners. ${HELD}`,
      tags,
      params: ProjectRegionParams,
      body: CreateListener,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, body }) => dialect.tasks([await createListener(on, scope, body)]),
  });

  // Answers contain hashes of passwords.
  app.get(BASE, {
    config: { access: 'read', secretAnswer: true },
    schema: {
      operationId: 'listListeners',
      summary: 'List listeners of load balancers',
      description: 'Newest first.',
      tags,
      params: ProjectRegionParams,
      querystring: ListenerListQuery,
      response: { 200: ListenerList },
    },
    handler: async ({ scope, query }) => listListeners(on, scope, query),
  });

  app.get(ONE, {
    config: { access: 'read', versioned: VERSIONED, secretAnswer: true },
    schema: {
      operationId: 'getListener',
      summary: 'Get a listener of a load balancer',
      tags,
      params: ListenerParams,
      querystring: ShowListenerQuery,
      response: { 200: ListenerAnswer },
    },
    handler: async ({ scope, params, query }) =>
      getListener(on, scope, params.listener_id, { stats: query.show_stats ?? false }),
  });

  app.patch(ONE, {
    config: { access: 'operate', secretAnswer: true },
    schema: {
      operationId: 'renameListener',
      summary: 'Rename a listener and wait for completion',
      description: WAIT_TEXT,
      deprecated: true,
      tags,
      params: ListenerParams,
      body: RenameListener,
      response: { 200: ListenerAnswer },
    },
    handler: async ({ scope, params, body }, reply) => {
      const { listener_id: id } = params;
      const task = await updateListener(on, scope, id, body);
      const asked = { principal: scope.principal, gone: goneSignal(reply) };
      await waitForTask(on, task, `Listener ${id}`, asked);
      return getListener(on, scope, id);
    },
  });

  app.patch('/cloud/v2/lblisteners/:project_id/:region_id/:listener_id', {
    config: { access: 'operate', versioned: VERSIONED },
    schema: {
      operationId: 'updateListener',
      summary: 'Update a listener of a load balancer',
      description: `Fields that are left out stay. The task has finished already if nothing changes. ${HELD}`,
      tags,
      params: ListenerParams,
      body: UpdateListener,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, params, body }) =>
      dialect.tasks([await updateListener(on, scope, params.listener_id, body)]),
  });

  app.delete(ONE, {
    config: { access: 'operate' },
    schema: {
      operationId: 'deleteListener',
      summary: 'Delete a listener of a load balancer',
      description: `Deletes its L7 policies with it. Its default pool stays, unless delete_default_pool is true; then it returns 409 if something else uses the pool. ${WAITS}`,
      tags,
      params: ListenerParams,
      querystring: DeleteListenerQuery,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, params, query }) =>
      dialect.tasks([
        await deleteOrWait(on, scope, listenerDeletion, params.listener_id, {
          defaultPool: query.delete_default_pool ?? false,
        }),
      ]),
  });
}
