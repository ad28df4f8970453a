import { randomUUID } from 'node:crypto';
import type { Transaction } from '../../../../db/database.ts';
import { DomainError } from '../../../../lib/errors.ts';
import { loop } from '../../../../lib/loop.ts';
import type { Platform } from '../../../../platform.ts';
import { typeOf } from '../../../../requests/event-types.ts';
import { eventData, writingEvent } from '../../../../requests/events.ts';
import { callerOfDeletion } from '../../../../requests/principal.ts';
import { beginAction } from '../changes/service.ts';
import * as turns from './in-transaction.ts';

/*
 * Stops the machines of suspended accounts, if the operator wants that, and starts again what was stopped so. A worker takes the
 * turn of an account for a while and goes on with some of its machines, each in a transaction of its own. What is busy is looked at
 * again, so nothing is lost with a worker that dies.
 */

const LOOK_MS = 1_000;
const LANES = 4;
const BATCH = 50;
/** After which another worker goes on. */
const TAKEN_MS = 20_000;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 10 * 60_000;

/** Begins to look for accounts that were suspended or resumed. `mayWork` says whether the clock can be trusted. */
export function startSuspensions(on: Platform, mayWork: () => boolean): { stop(): Promise<void> } {
  let stopped = false;
  const mayGoOn = () => !stopped && mayWork();
  const lane = async () => {
    while (mayGoOn() && (await goOn(on, mayGoOn)));
  };
  const looking = loop('stopping machines of suspended accounts', LOOK_MS, on.log, async () => {
    if (!mayGoOn() || !(await turns.isAnyDue(on.database.sql, on.clock.now()))) return;
    await Promise.all(Array.from({ length: LANES }, lane));
  });
  return {
    async stop() {
      stopped = true;
      await looking.stop();
    },
  };
}

/** Goes on with some machines of an account. Returns false if no account is due. */
async function goOn(on: Platform, mayGoOn: () => boolean): Promise<boolean> {
  const { database, clock, suspensionStopsMachines = false } = on;
  const turn = await database.transaction((tx) => turns.takeDueTurn(tx, new Date(tx.now.getTime() + TAKEN_MS)));
  if (!turn) return false;
  const isWanted = turn.status === 'active' || suspensionStopsMachines;
  if (!isWanted || !(await database.transaction((tx) => turns.keepStatus(tx, turn)))) {
    // If the status has changed, that change has planned another turn.
    await turns.changeTurn(database.sql, turn, 'done');
    return true;
  }
  const machines = await turns.machinesToChange(database.sql, turn, BATCH);
  for (const machine of machines) {
    if (!mayGoOn()) {
      await turns.changeTurn(database.sql, turn, { try_at: clock.now() });
      return false;
    }
    await change(on, turn, machine);
  }
  const now = clock.now();
  if (machines.length === BATCH) {
    await turns.changeTurn(database.sql, turn, { try_at: now, after_id: machines.at(-1)?.id ?? null });
  } else if (await turns.isAnyLeft(database.sql, turn)) {
    const wait = Math.min(FIRST_WAIT_MS * 2 ** Math.min(turn.attempts, 20), LONGEST_WAIT_MS);
    const again = { try_at: new Date(now.getTime() + wait), after_id: null, attempts: turn.attempts + 1 };
    await turns.changeTurn(database.sql, turn, again);
  } else await turns.changeTurn(database.sql, turn, 'done');
  return true;
}

/** Begins to stop or start a machine. What refuses to is looked at again later. */
async function change(on: Platform, turn: turns.Turn, machine: turns.Machine): Promise<void> {
  const { id, project_id: projectId, region_id: regionId } = machine;
  const { client_id: clientId, user_id: userId, user_client_id: userClientId } = turn;
  const region = on.catalog.regions.get(regionId);
  if (!region) return;
  const principal = callerOfDeletion({ userId, userClientId });
  const scope = { projectId, regionId, region, clientId, principal, requestId: randomUUID() };
  const name = turn.status === 'paused' ? 'stop' : 'start';
  try {
    await on.database.transaction(async (tx) => {
      if (!(await turns.keepStatus(tx, turn)) || !(await turns.lockMachine(tx, turn, id))) return;
      const taskId = await beginAction(on, tx, scope, { id, name, bySuspension: true });
      await tell(tx, turn, machine, taskId);
    });
  } catch (error) {
    if (error instanceof DomainError) on.log.debug({ err: error, id }, `A machine can't ${name} now, trying again`);
    else on.log.error({ err: error, id }, `A machine could not ${name}, trying again`);
  }
}

async function tell(
  tx: Transaction,
  { client_id, status }: turns.Turn,
  { id, name, project_id, region_id }: turns.Machine,
  taskId: string,
): Promise<void> {
  await writingEvent({
    type: typeOf('instance', status === 'paused' ? 'stopped' : 'started'),
    subject: `instance/${id}`,
    client_id,
    project_id,
    revised: `instances:${id}`,
    data: JSON.stringify(
      eventData({
        client_id,
        project_id,
        region_id,
        resources: [{ type: 'instance', id, name }],
        task: { id: taskId },
        reason: status === 'paused' ? 'Its account is suspended' : 'Its account is no longer suspended',
      }),
    ),
  }).execute(tx.sql);
}
