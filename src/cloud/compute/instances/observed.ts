import type { MachineObservation, MachinePower } from '../../../backends/contract/specs.ts';
import type { Notice } from '../../../convergence/task-kind.ts';
import type { Wanted } from '../../../convergence/wants.ts';
import type { Transaction } from '../../../db/database.ts';
import { typeOf } from '../../../requests/event-types.ts';
import { eventData, writingEvent } from '../../../requests/events.ts';
import type { InstanceStatus, VmState } from '../../ground/hosts/states.ts';
import { type TurnedInstance, turnInstance } from './store.ts';
import { ofMachine } from './tasks.ts';

/*
 * What machines do by themselves. An instance whose guest switched it off is stopped, as by the API: it stays off until
 * somebody starts it. One that crashed or lost its host is an ERROR, in which it can be rebooted hard, stopped or
 * deleted, and nothing new begins. It ends when the machine runs again.
 */

interface Turn {
  /** In which the instance has to be. */
  from: readonly VmState[];
  to: { status: InstanceStatus; vm_state: VmState };
  verb: string;
  reason: string;
}

const failed = { status: 'ERROR', vm_state: 'error' } as const;
const TURNS: Record<MachinePower, Turn> = {
  stopped: {
    from: ['active', 'error'],
    to: { status: 'SHUTOFF', vm_state: 'stopped' },
    verb: 'shut_down',
    reason: 'The guest has switched the machine off',
  },
  crashed: { from: ['active'], to: failed, verb: 'crashed', reason: 'The machine has crashed' },
  host_gone: { from: ['active'], to: failed, verb: 'host_lost', reason: 'The host of the machine does not answer' },
  running: {
    from: ['error'],
    to: { status: 'ACTIVE', vm_state: 'active' },
    verb: 'recovered',
    reason: 'The machine runs again',
  },
};

/** Brings an instance in line with what is observed of its machine. There is an event for each change, and no other. */
export async function instanceNoticed(
  tx: Transaction,
  id: string,
  { power }: MachineObservation,
  how: Parameters<Notice>[3],
): Promise<readonly Wanted[]> {
  const turn = power && TURNS[power];
  if (!turn) return [];
  // If a task holds it, the end of that looks again. What was wanted of it since counts more.
  const instance = await turnInstance(tx, id, turn, how);
  if (!instance) return [];
  await tell(tx, instance, turn);
  // Otherwise it would be started again.
  return power === 'stopped' ? [ofMachine(id, () => ({ power: 'off' }))] : [];
}

async function tell(tx: Transaction, instance: TurnedInstance, { verb, reason }: Turn): Promise<void> {
  const { id, name, client_id, project_id, region_id } = instance;
  await writingEvent({
    type: typeOf('instance', verb),
    subject: `instance/${id}`,
    client_id,
    project_id,
    revised: `instances:${id}`,
    data: JSON.stringify(
      eventData({ client_id, project_id, region_id, resources: [{ type: 'instance', id, name }], reason }),
    ),
  }).execute(tx.sql);
}
