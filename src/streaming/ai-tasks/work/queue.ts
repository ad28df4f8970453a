import path from 'node:path';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import {
  type AiCapabilities,
  ALWAYS_ACCEPTED,
  type AnalysisProgram,
  workKinds,
} from '../../../../engines/index.ts';
import type { Database } from '../../../db/database.ts';
import type { Clock } from '../../../lib/time.ts';
import { declareDead, livingWorkers } from '../../../worker/heartbeat.ts';
import type { Queue } from '../../../worker/worker.ts';
import { AI_TASKS } from '../store.ts';
import { createClaims } from './claims.ts';
import { openWorkFolders } from './folders.ts';
import { createAiMetrics } from './metrics.ts';
import type { RunContext } from './run.ts';
import { createSlots } from './slots.ts';
import { tasksOf } from './store.ts';
import { workOn } from './task-in-work.ts';

const RETRY_PAUSES_MS = [2_000, 10_000, 30_000];

export interface AiQueueOptions {
  workerId: string;
  database: Database;
  clock: Clock;
  log: Logger;
  /** Registers the metrics of its tasks. */
  registry: Registry;
  capabilities: AiCapabilities;
  program: AnalysisProgram;
  fetching: RunContext['fetching'];
  limits: RunContext['limits'];
  /** Where tasks keep their files during work. */
  folder: string;
  /** Concurrent analyses in this process, and tasks of one account in all processes. */
  concurrency: number;
  perClient: number;
  /** Pauses before the first, second and third retry after an internal error. */
  retryPausesMs?: readonly number[];
}

export interface AiQueue extends Queue {
  /** Removes the folder of this worker, once the worker has stopped. */
  close(): Promise<void>;
}

/** Opens the queue of AI tasks for this worker's engines. */
export async function openAiQueue(options: AiQueueOptions): Promise<AiQueue> {
  const { workerId, database, log, capabilities, perClient, retryPausesMs = RETRY_PAUSES_MS } = options;
  const claims = createClaims(options);
  const kinds = workKinds(capabilities);
  const metrics = createAiMetrics(options.registry);
  const slots = createSlots(options.concurrency);
  const folders = await openWorkFolders(path.join(options.folder, 'ai'), workerId, log);
  log.info({ can: kinds, concurrency: options.concurrency }, 'Taking AI tasks');
  const waiting = ALWAYS_ACCEPTED.filter((kind) => !kinds.includes(kind));
  if (waiting.length > 0) {
    log.warn(
      { waiting },
      'AI tasks of some kinds wait for an engine; "npx tradewind doctor" says what to install',
    );
  }
  return {
    name: 'AI tasks',
    topic: AI_TASKS,
    async take(inHand, begin) {
      if (!slots.hasRoom()) return false;
      // Work that others have taken over may not have noticed yet.
      const except = [...inHand.keys()];
      const claim = await claims.take({ kinds, perClient, except, exceptClients: slots.slowClients() });
      if (!claim) return false;
      const slot = slots.enter(claim.clientId);
      const work = (signal: AbortSignal) =>
        workOn(claim, { ...options, claims, folders, metrics, slot, signal, retryPausesMs }).finally(
          slot.leave,
        );
      begin({ key: claim.id, state: 'STARTED', work });
      return true;
    },
    claimed: () => tasksOf(database.sql, workerId),
    async giveBack(ids) {
      for (const id of ids) await claims.release(id, { to: 'PENDING' });
    },
    takeFromDead: claims.takeFromDead,
    async sweep() {
      const dead = await folders.sweep(() => livingWorkers(database.sql));
      if (dead.length > 0) await declareDead(database.sql, dead);
    },
    close: folders.close,
  };
}
