import { type Static, Type } from 'typebox';
import { Choice, IntegerOrNull, Named, nullable, TextOrNull, Timestamp } from '../../lib/wire.ts';

const TimeOrNull = (description: string) => nullable(Timestamp(description));

/** Work that workers divide among themselves. */
export const QUEUES = [
  'infrastructure',
  'ai_tasks',
  'deletions',
  'waiting_deletions',
  'mails',
  'webhook_deliveries',
] as const;

const Process = Named('PlatformProcess', {
  host: Type.String({ description: 'Name of its machine' }),
  pid: Type.Integer({ description: 'Its process ID there' }),
  worker_id: TextOrNull({ description: 'Its ID as a worker; null if it takes no work, such as with `--role api`' }),
  started_at: TimeOrNull('When it began to take work; null if it takes none'),
  seen_at: Timestamp('The last sign of life'),
  version: TextOrNull({ description: 'The release of the process that answers; null for the others' }),
  ai_kinds: Type.Array(Type.String(), {
    description: 'Kinds of AI tasks that it can do',
    examples: [['transcription']],
  }),
  regions: nullable(
    Type.Array(Type.Integer(), {
      description: 'The only regions whose infrastructure it works on; null for all, or if it takes no work',
      examples: [[1, 3]],
    }),
  ),
  catalog_problem: TextOrNull({ description: 'Why it works with an older catalogue; null if it does not' }),
  holds: Type.Array(
    Type.Object({ queue: Choice(QUEUES), count: Type.Integer({ description: 'How much of it', examples: [3] }) }),
    { description: 'What it works on now. What waits for an answer of the infrastructure is part of that' },
  ),
});
export const PlatformProcesses = Named('PlatformProcesses', { results: Type.Array(Process) });
export type PlatformProcess = Static<typeof Process>;

const figures = {
  waiting: Type.Integer({ description: 'What nobody works on now' }),
  running: Type.Integer({ description: 'What is worked on' }),
  oldest_waiting_since: TimeOrNull(
    'Since when the oldest has waited: infrastructure since it was due. null if nothing waits',
  ),
  failing: IntegerOrNull({
    description: 'How much of both failed last time and is tried again; null if that is not counted',
  }),
  failed_last_hour: IntegerOrNull({
    description: 'How much failed for good in the last hour, cancelled tasks too; null if that is not counted',
  }),
};
const QueueKind = Named('PlatformQueueKind', {
  kind: Type.String({ description: 'Type of a task, or kind of infrastructure or AI task', examples: ['create_vm'] }),
  ...figures,
});
const Queue = Named('PlatformQueue', {
  queue: Choice(['tasks', ...QUEUES]),
  ...figures,
  kinds: Type.Array(QueueKind, { description: 'The same by kind, as far as there is anything' }),
});
export const PlatformQueues = Named('PlatformQueues', { results: Type.Array(Queue) });
export type PlatformQueue = Static<typeof Queue>;

const BacklogPart = Named('PlatformBacklogPart', {
  region_id: Type.Integer({ description: 'Region' }),
  backend: TextOrNull({ description: 'The backend that does it; null if the catalogue no longer names one' }),
  kind: Type.String({ description: 'Kind of infrastructure', examples: ['machine'] }),
  waiting: figures.waiting,
  running: figures.running,
  failing: Type.Integer({ description: 'How much of both failed last time and is tried again' }),
  most_failures: Type.Integer({ description: 'How many tries of one of them have failed in a row' }),
  oldest_due_since: TimeOrNull('Since when the oldest is due and waits for a worker; null if none does'),
});
const WaitingTask = Named('PlatformWaitingTask', {
  region_id: IntegerOrNull({ description: 'Region; null for tasks that have none' }),
  task_id: Type.String({ format: 'uuid' }),
  task_type: Type.String({ examples: ['create_vm'] }),
  client_id: Type.Integer({ description: 'Account' }),
  state: Choice(['NEW', 'RUNNING']),
  created_on: Timestamp(),
});
export const PlatformBacklog = Named('PlatformBacklog', {
  results: Type.Array(BacklogPart, { description: 'By region, backend and kind, as far as there is anything' }),
  oldest_tasks: Type.Array(WaitingTask, { description: 'The oldest task of each region that has not ended' }),
});
export type PlatformBacklog = Static<typeof PlatformBacklog>;

const checkedAt = Timestamp('When it was looked at: a look is good for half a minute');

const Check = Named('PlatformCheck', {
  name: Type.String({ description: 'What is checked', examples: ['Transcription'] }),
  state: Choice(['ok', 'limited', 'missing'], {
    description: "missing: Tradewind can't start without it. limited: something does not work",
  }),
  detail: Type.String({ description: 'What was found, and what to do about it' }),
});
export const PlatformChecks = Named('PlatformChecks', { checked_at: checkedAt, results: Type.Array(Check) });
export type PlatformChecks = Static<typeof PlatformChecks>;

const Orphan = Named('Orphan', {
  backend: Type.String({ description: 'Its name in `backends.yaml`', examples: ['simulated'] }),
  kind: Type.String({ description: 'Kind of infrastructure', examples: ['volume'] }),
  id: Type.String({ description: 'Its ID' }),
  handle: TextOrNull({ description: 'What the backend calls it, in JSON; null if that is its ID' }),
});
export const Orphans = Named('Orphans', {
  checked_at: checkedAt,
  count: Type.Integer({ description: 'How many there are' }),
  results: Type.Array(Orphan, { description: 'The first thousand' }),
  problems: Type.Array(
    Named('OrphanProblem', {
      backend: Type.String({ description: 'A backend that could not say what it has' }),
      problem: Type.String({ description: 'Why' }),
    }),
  ),
});
export type Orphans = Static<typeof Orphans>;
