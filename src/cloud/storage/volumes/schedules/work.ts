import type { Transaction } from '../../../../db/database.ts';
import { ConflictError, DomainError, QuotaExceededError } from '../../../../lib/errors.ts';
import { loop } from '../../../../lib/loop.ts';
import type { Platform, Scope } from '../../../../platform.ts';
import { typeOf } from '../../../../requests/event-types.ts';
import { eventData, writingEvent } from '../../../../requests/events.ts';
import { ROLES } from '../../../../requests/principal.ts';
import { beginSnapshot, beginSnapshotDeletion } from '../snapshots/service.ts';
import type { PLACEHOLDERS } from './schema.ts';
import * as store from './store.ts';
import { minutesOf, nextTime, wallTime } from './timing.ts';

/*
 * Takes snapshots when they are due, and deletes those that are kept long enough. A turn is one volume of one schedule.
 * A worker locks a turn and does its work in one transaction, which accepts the snapshot and plans the next one, or does
 * neither. So any number of workers share the turns, and one that dies leaves its turn as it was.
 */

/** Nothing announces that something is due. */
const LOOK_MS = 1_000;
/** Turns of one process at a time. */
const LANES = 4;
const MINUTE_MS = 60_000;
/** How long a snapshot that could not be taken waits for the next attempt. */
const RETRY_MS = [0.5, 1, 2, 4, 8, 15].map((minutes) => minutes * MINUTE_MS);
/** How often to look whether a new snapshot is ready. */
const READY_MS = 5_000;
const LONGEST_NAME = 255;
const SNAPSHOT_MISSED = typeOf('snapshot_policy', 'snapshot_missed');

/** Begins to look for what is due. `mayWork` says whether the clock can be trusted. */
export function startSnapshotSchedules(on: Platform, mayWork: () => boolean): { stop(): Promise<void> } {
  let stopped = false;
  const mayGoOn = () => !stopped && mayWork();
  const lane = async () => {
    while (mayGoOn() && ((await takeDue(on)) || (await pruneDue(on))));
  };
  const looking = loop('looking for due snapshots', LOOK_MS, on.log, async () => {
    if (!mayGoOn() || !(await store.isAnythingDue(on.database.sql, on.clock.now()))) return;
    await Promise.all(Array.from({ length: LANES }, lane));
  });
  return {
    async stop() {
      stopped = true;
      await looking.stop();
    },
  };
}

/** Takes the snapshot that has been due for longest. Returns false if none is due. */
const takeDue = (on: Platform) =>
  workOn(on, 'try_at', async (tx, turn) => {
    const scope = scopeOf(on, turn);
    const { schedule_id, volume_id, policy_id: lifecycle_policy_id } = turn;
    const made = await beginSnapshot(
      on,
      tx,
      scope,
      { volume_id, name: nameOf(turn, tx.now) },
      { schedule_id, lifecycle_policy_id },
    );
    await store.insertScheduled(tx, made.id, turn);
    const due = nextTime(turn.timing, tx.now, turn.due_at ?? undefined) ?? null;
    await store.changeTurn(tx.sql, turn, {
      due_at: due,
      try_at: due,
      made_id: made.id,
      make_room: false,
      prune_at: later(tx.now, READY_MS),
      problem: null,
      problem_since: null,
    });
    await tell(tx, turn, typeOf('snapshot', 'created'), made);
  });

/** Looks at the snapshots of a turn, and deletes one of them at most. Returns false if there is nothing to look at. */
const pruneDue = (on: Platform) =>
  workOn(on, 'prune_at', async (tx, turn) => {
    const kept = await keptNow(tx, turn);
    if (turn.made_id !== null && kept.last === null) return noteFailure(tx, turn);
    if (kept.doomed !== null) await remove(on, tx, turn, kept.doomed);
    const isBusy = kept.last === 'creating';
    const next = isBusy ? later(tx.now, READY_MS) : kept.oldestGoesAt;
    const isReady = turn.made_id !== null && !isBusy;
    await store.changeTurn(tx.sql, turn, {
      prune_at: kept.doomed === null ? next : tx.now,
      ...(isReady && { made_id: null, attempts: 0 }),
      ...((isReady || turn.attempts === 0) && { problem: null, problem_since: null }),
      make_room: false,
    });
  });

async function keptNow(tx: Transaction, turn: store.DueTurn) {
  const retention = turn.retention && minutesOf(turn.retention) * MINUTE_MS;
  const before = retention === null ? null : later(tx.now, -retention);
  const quantity = turn.max_quantity - (turn.make_room ? 1 : 0);
  const kept = await store.keptBy(tx.sql, turn, { quantity, before });
  return { ...kept, oldestGoesAt: kept.oldest && retention ? later(kept.oldest, retention) : null };
}

async function remove(on: Platform, tx: Transaction, turn: store.DueTurn, id: string): Promise<void> {
  const { schedule_id, policy_id: lifecycle_policy_id } = turn;
  const by = { schedule_id, lifecycle_policy_id };
  const taskId = await beginSnapshotDeletion(on, tx, scopeOf(on, turn), id, by);
  await tell(tx, turn, typeOf('snapshot', 'deleted'), { id, taskId });
}

/** The task of the last snapshot has taken it away again: the infrastructure refused it. */
async function noteFailure(tx: Transaction, turn: store.DueTurn): Promise<void> {
  const message = `Snapshot ${turn.made_id} could not be taken: see its task.`;
  const failed = refusalOf(turn, message, tx.now);
  await store.changeTurn(tx.sql, turn, { ...failed, made_id: null, prune_at: tx.now });
  if (turn.attempts === 0) await tell(tx, turn, SNAPSHOT_MISSED, undefined, message);
}

/** Does the work of a turn in the transaction that locks it. What it throws is noted, so that it is tried again later. */
async function workOn(
  on: Platform,
  which: 'try_at' | 'prune_at',
  work: (tx: Transaction, turn: store.DueTurn) => Promise<void>,
): Promise<boolean> {
  const { database, log } = on;
  let mine: store.DueTurn | undefined;
  try {
    await database.transaction(async (tx) => {
      mine = await store.lockDueTurn(tx, which);
      if (!mine) return;
      if (mine.volume === null) await store.deleteTurn(tx, mine);
      else await work(tx, mine);
    });
  } catch (error) {
    if (!mine) throw error;
    const { schedule_id: scheduleId, volume_id: volumeId } = mine;
    if (!(error instanceof DomainError)) {
      log.error({ err: error, scheduleId, volumeId }, 'A snapshot schedule could not go on, trying again');
    }
    await noteRefusal(on, mine, which, error);
  }
  return mine !== undefined;
}

async function noteRefusal({ database }: Platform, turn: store.DueTurn, which: 'try_at' | 'prune_at', error: unknown) {
  const message = error instanceof DomainError ? error.message : 'An error of the server; its log says more.';
  await database.transaction(async (tx) => {
    const refused = refusalOf(turn, message, tx.now);
    if (which === 'prune_at') {
      const { problem, problem_since } = refused;
      await store.changeTurn(tx.sql, turn, { problem, problem_since, prune_at: later(tx.now, MINUTE_MS) });
      return;
    }
    const full = error instanceof QuotaExceededError && (await mayMakeRoom(tx, turn));
    await store.changeTurn(tx.sql, turn, {
      ...refused,
      ...(full && { make_room: true, prune_at: tx.now }),
    });
    if (turn.attempts === 0) await tell(tx, turn, SNAPSHOT_MISSED, undefined, message);
  });
}

/** The oldest snapshot goes first if the quota has no room for one more, but never the only one. */
async function mayMakeRoom(tx: Transaction, turn: store.DueTurn): Promise<boolean> {
  if (turn.max_quantity < 2) return false;
  const { ready } = await store.keptBy(tx.sql, turn, { quantity: turn.max_quantity, before: null });
  return ready >= turn.max_quantity;
}

/** Returns what to write if a snapshot could not be taken. The next one that is planned may come earlier. */
function refusalOf(turn: store.DueTurn, problem: string, now: Date) {
  const wait = RETRY_MS[Math.min(turn.attempts, RETRY_MS.length - 1)] ?? MINUTE_MS;
  return {
    problem,
    problem_since: turn.problem_since ?? now,
    attempts: turn.attempts + 1,
    try_at: later(now, wait),
  };
}

/** Returns where a turn works, and in whose name. @throws ConflictError where nothing new may begin */
function scopeOf(on: Platform, turn: store.DueTurn): Scope {
  const { region_id: regionId, project_id: projectId, client_id: clientId } = turn;
  const region = on.catalog.regions.get(regionId);
  if (!region) throw new ConflictError(`Region ${regionId} is not in the catalogue any more`);
  if (turn.deletion_task_id !== null) throw new ConflictError(`Project ${projectId} is being deleted`);
  if (turn.shut) {
    throw new ConflictError(`Client ${clientId} is suspended, or its service CLOUD is switched off`);
  }
  const principal = {
    tokenId: undefined,
    loginId: undefined,
    resellerId: undefined,
    platformAdministrator: false,
    userId: turn.user_id,
    clientId: turn.user_client_id,
    roleId: ROLES.administrators.id,
  };
  // The schedule is what all of its work follows from.
  return { projectId, regionId, region, clientId, principal, requestId: turn.schedule_id };
}

function nameOf(turn: store.DueTurn, now: Date): string {
  const zone = (turn.timing.type === 'cron' ? turn.timing.timezone : undefined) ?? 'UTC';
  const values: Record<(typeof PLACEHOLDERS)[number], string | number> = {
    volume_id: turn.volume_id,
    schedule_id: turn.schedule_id,
    lifecycle_policy_id: turn.policy_id,
    datetime_utc: wallTime(now, 'UTC'),
    local_datetime: wallTime(now, zone),
  };
  const name = turn.resource_name_template.replaceAll(/\{(\w{1,30})\}/g, (all, key: string) =>
    key in values ? String(values[key as keyof typeof values]) : all,
  );
  return name.slice(0, LONGEST_NAME);
}

const later = (at: Date, ms: number): Date => new Date(at.getTime() + ms);

/** Writes the event of a snapshot, or of one that could not be taken. */
async function tell(
  tx: Transaction,
  turn: store.DueTurn,
  type: string,
  snapshot: { id: string; taskId: string } | undefined,
  why?: string,
): Promise<void> {
  const policy = { type: 'snapshot_policy', id: String(turn.policy_id), name: turn.policy_name };
  const volume = { type: 'volume', id: turn.volume_id, name: null };
  const resources = snapshot ? [{ type: 'snapshot', id: snapshot.id, name: null }, volume, policy] : [policy, volume];
  const subject = snapshot ? `snapshot/${snapshot.id}` : `snapshot_policy/${turn.policy_id}`;
  await writingEvent({
    type,
    subject,
    client_id: turn.client_id,
    project_id: turn.project_id,
    revised: snapshot ? `snapshots:${snapshot.id}` : `lifecycle_policies:${turn.policy_id}`,
    data: JSON.stringify(
      eventData({
        client_id: turn.client_id,
        project_id: turn.project_id,
        region_id: turn.region_id,
        resources,
        task: snapshot ? { id: snapshot.taskId } : null,
        reason: why ?? `By schedule ${turn.schedule_id} of policy ${turn.policy_name}`,
      }),
    ),
  }).execute(tx.sql);
}
