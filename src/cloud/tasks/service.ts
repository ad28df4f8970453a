import { randomUUID } from 'node:crypto';
import type { Database, Transaction } from '../../db/database.ts';
import { ownsClient, type Principal } from '../../iam/identity/principal.ts';
import type { Clock } from '../../lib/clock.ts';
import { NotFoundError } from '../../lib/errors.ts';
import { isUuid } from '../../lib/ids.ts';
import type { TaskQueue } from '../../workflows/task-queue.ts';
import type { Scope } from '../projects/service.ts';
import { findTask, insertTask, type TaskRow } from './store.ts';

/** Work to be done later, accepted now. */
export interface TaskRequest {
  type: string;
  /** What the task was asked to do, as the API shows it. Holds no secret. */
  data: object;
  /** What the workflow gets. */
  input: object;
  deadlineMs: number;
  /** Given where the id must be known before, e.g. to lock a row with it. */
  id?: string;
}

export interface Tasks {
  /** Accepts a task in the caller's transaction: the row that clients poll and the work commit together. */
  start(tx: Transaction, scope: Scope, request: TaskRequest): Promise<string>;
  /** @throws NotFoundError for an unknown task and for another account's */
  get(principal: Principal, taskId: string): Promise<TaskRow>;
}

export function createTasks(deps: { database: Database; queue: TaskQueue; clock: Clock }): Tasks {
  return {
    async start(tx, scope, request) {
      const id = request.id ?? randomUUID();
      const createdOn = deps.clock.now();
      await insertTask(tx.sql, {
        id,
        type: request.type,
        clientId: scope.clientId,
        userId: scope.principal.userId,
        userClientId: scope.principal.clientId,
        projectId: scope.projectId,
        regionId: scope.region.id,
        requestId: scope.requestId,
        data: request.data,
        createdOn,
        deadlineAt: new Date(createdOn.getTime() + request.deadlineMs),
      });
      await deps.queue.enqueue(tx, { id, type: request.type, input: request.input });
      return id;
    },
    async get(principal, taskId) {
      const row = isUuid(taskId) ? await findTask(deps.database.sql, taskId) : undefined;
      if (!row || !ownsClient(principal, row.client_id)) throw new NotFoundError('Task', taskId);
      return row;
    },
  };
}
