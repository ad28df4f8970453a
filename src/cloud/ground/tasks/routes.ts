import { failTask } from '../../../convergence/failures.ts';
import type { TaskEnd } from '../../../convergence/task-kind.ts';
import { endWaiting } from '../../../convergence/waiting-deletions.ts';
import { goneSignal } from '../../../http/gone-signal.ts';
import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { ConflictError } from '../../../lib/errors.ts';
import { presentedPage } from '../../../lib/page.ts';
import { noteAccount } from '../../../lib/request-context.ts';
import type { Platform } from '../../../platform.ts';
import type { Principal } from '../../../requests/principal.ts';
import * as schema from './schema.ts';
import * as tasks from './service.ts';
import { ENDED } from './states.ts';
import type { TaskRow } from './store.ts';

/** Changes that can't be taken back once they have begun, and why. Removals can't either. */
const IRREVERSIBLE: Readonly<Record<string, string>> = {
  extend_sfs: "a file share can't become smaller again",
  extend_volume: "a volume can't become smaller again",
  failover_loadbalancer: 'the other machine may have taken over already',
  hard_reboot_vm: 'the machine may have been restarted already',
  revert_volume: 'the data of the volume may have been replaced already',
  soft_reboot_vm: 'the machine may have been restarted already',
  upgrade_k8s_cluster_v2: "Kubernetes can't go back to an older version",
};

function whyNot(type: string, kind: TaskEnd | undefined): string | undefined {
  if (!kind) return 'this version does not know its type';
  if (kind.removes) return 'part of what it removes may be gone already';
  return kind.keeps ? 'what it changed stays wanted' : IRREVERSIBLE[type];
}

function refuseIrreversible(on: Platform, { id, task_type: type }: TaskRow): void {
  const why = whyNot(type, on.taskEnds.get(type));
  if (why !== undefined) throw new ConflictError(`Task ${id} (${type}) can't be cancelled: ${why}`);
}

/**
 * Ends the task with an ERROR, and has what it began undone, as if it had failed. Returns the ended task.
 * @throws NotFoundError; ConflictError for a task that has ended, and for what can't be undone
 */
export async function cancelTask(on: Platform, principal: Principal, taskId: string): Promise<TaskRow> {
  const task = await tasks.getTask(on, principal, taskId, 'operate');
  if (ENDED.includes(task.state)) {
    throw new ConflictError(`Task ${task.id} has ended: its state is ${task.state}`);
  }
  noteAccount(task.client_id);
  await on.database.accept(async (tx) => {
    const reason = `Cancelled by user ${principal.userId}`;
    if (await endWaiting(on, tx, task.id, () => reason)) return;
    refuseIrreversible(on, task);
    if (await failTask(on, tx, task.id, reason)) return;
    throw new ConflictError(`Task ${task.id} has ended meanwhile`);
  });
  return tasks.getTask(on, principal, task.id);
}

/** The longest delay of one answer. Clients that want to wait longer ask again. */
const MOST_SECONDS = 60;

// Commas separate preferences and semicolons their parameters. The first of two waits counts (RFC 7240, section 2).
const WAIT = /(?:^|,)\s*wait\s*=\s*(?:"(\d{1,9})"|(\d{1,9}))\s*(?:[,;]|$)/i;

/** Returns the seconds that the header `Prefer` asks to wait; undefined if it doesn't or can't be understood. */
export function waitPreference(prefer: string | undefined): number | undefined {
  const [, quoted, plain] = (prefer === undefined ? null : WAIT.exec(prefer)) ?? [];
  const seconds = quoted ?? plain;
  return seconds === undefined ? undefined : Math.min(Number(seconds), MOST_SECONDS);
}

const BASE = '/cloud/v1/tasks';

export function acknowledgementRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags });

  api.post(`${BASE}/:task_id/acknowledge`, 'acknowledgeTask', 'Acknowledge a task', {
    description: 'Marks the task as seen by a user. The first acknowledgement and its time are kept.',
    params: schema.TaskParams,
    answer: schema.Task,
    handler: async ({ principal, params }) =>
      schema.presentedTask(await tasks.acknowledgeTask(on, principal, params.task_id)),
  });

  api.post(`${BASE}/acknowledge_all`, 'acknowledgeAllTasks', 'Acknowledge all tasks', {
    description: 'Acknowledges all tasks of the account that have ended.',
    query: schema.AcknowledgeQuery,
    handler: ({ principal, query }) => tasks.acknowledgeEndedTasks(on, principal, query),
  });

  api.post(`${BASE}/acknowledge`, 'acknowledgeTasks', 'Acknowledge tasks by their IDs', {
    deprecated: true,
    description: 'Use "Acknowledge a task" or "Acknowledge all tasks".',
    query: schema.AcknowledgeQuery,
    body: schema.AcknowledgeTasks,
    handler: async ({ principal, query, body }) => {
      if (body.task_ids) await tasks.acknowledgeNamedTasks(on, principal, body.task_ids, query);
      else await tasks.acknowledgeEndedTasks(on, principal, query);
    },
  });
}

const tags = ['Tasks'];

/**
 * The specification polls `/v1/tasks/{task_id}`. The official clients poll the same task below `/cloud`, where some
 * names beside the IDs are other operations.
 */
const PATHS = [
  { url: '/v1/tasks/:task_id', operationId: 'getTask' },
  { url: '/cloud/v1/tasks/:task_id(^(?!acknowledge).*$)', operationId: 'getCloudTask' },
];

export function taskRoutes(app: Api, on: Platform): void {
  app.addHook('preClose', async () => on.taskWaiting.stop());

  const api = operations(app, { tags, params: schema.TaskParams });

  for (const { url, operationId } of PATHS) {
    api.get(url, operationId, 'Get a task', {
      uncounted: true,
      description:
        'Poll until `state` is FINISHED or ERROR, or use `Prefer: wait=N` to wait for that. ' +
        'The resources that the task created or changed can be read from that moment on.',
      headers: schema.WaitHeaders,
      answer: schema.Task,
      handler: async ({ principal, params, headers }, reply) => {
        const seconds = waitPreference(headers.prefer);
        if (seconds === undefined) return schema.presentedTask(await tasks.getTask(on, principal, params.task_id));
        const { task, waited } = await tasks.awaitTask(on, principal, params.task_id, {
          seconds,
          gone: goneSignal(reply),
        });
        if (waited) void reply.header('preference-applied', `wait=${seconds}`);
        return schema.presentedTask(task);
      },
    });
  }

  api.get('/cloud/v1/tasks', 'listTasks', 'List tasks', {
    description: 'Lists tasks of all projects of the account.',
    query: schema.TaskListQuery,
    answer: schema.TaskList,
    handler: async ({ principal, query }) =>
      presentedPage(await tasks.listTasks(on, principal, query), schema.presentedTask),
  });

  api.get('/cloud/v1/tasks/:project_id/:region_id/active', 'listActiveTasks', 'List active tasks', {
    description: 'Lists tasks that have not ended, newest first.',
    params: schema.ActiveTaskParams,
    query: schema.ActiveTaskQuery,
    answer: schema.TaskList,
    handler: async ({ scope, query }) =>
      presentedPage(await tasks.listActiveTasks(on, scope, query), schema.presentedTask),
  });

  acknowledgementRoutes(app, on);
}

export function taskCancellationRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags: ['Tasks'], params: schema.TaskParams });

  api.post('/tradewind/v1/tasks/:task_id/cancel', 'cancelTask', 'Cancel a task', {
    description:
      'Ends the task with an ERROR, and undoes what it began, as if it had failed. Removals, and changes that nothing can undo, are refused.',
    answer: schema.Task,
    handler: async ({ principal, params }) => schema.presentedTask(await cancelTask(on, principal, params.task_id)),
  });
}
