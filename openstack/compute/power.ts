import { Refused } from '../../src/backends/contract/backend.ts';
import type { Specs } from '../../src/backends/contract/specs.ts';
import type { Api } from '../cloud/client.ts';
import type { Notes, Site, Step } from '../resource.ts';
import { act, type Server } from './server.ts';

type MachineSpec = Specs['machine'];

/** Returns what to note of the power and the reboots that a machine was told last: it stays as it is until it is told another. */
export const powerNotes = ({ power, reboots }: Pick<MachineSpec, 'power' | 'reboots'>): Notes => ({
  power: `${power} ${reboots.soft} ${reboots.hard}`,
});

const STATUS = { on: 'ACTIVE', off: 'SHUTOFF', suspended: 'SUSPENDED' } as const;

/** Does the next thing that the power in the spec asks for; undefined if it was done. */
export async function changePower(
  { api, notes }: Site<'machine'>,
  live: Server,
  spec: MachineSpec,
): Promise<Step | undefined> {
  const wanted = powerNotes(spec);
  const last = typeof notes.power === 'string' ? notes.power : lastOf(live, spec);
  if (last === wanted.power) return undefined;
  const [power, soft, hard] = last.split(' ');
  const rebooted = { power: `${power} ${spec.reboots.soft} ${spec.reboots.hard}` };
  if (Number(hard) < spec.reboots.hard) return reboot(api, live, 'HARD', rebooted);
  if (Number(soft) < spec.reboots.soft) return reboot(api, live, live.status === 'ACTIVE' ? 'SOFT' : 'HARD', rebooted);
  // Done is what is seen.
  if (live.status === STATUS[spec.power]) return { doing: 'powering', notes: wanted };
  return towards(api, live, spec.power);
}

/** Without a note, as after the first answer was lost, a machine counts as rebooted. */
function lastOf({ status }: Server, { reboots }: MachineSpec): string {
  const power = status === 'SHUTOFF' ? 'off' : status === 'SUSPENDED' ? 'suspended' : 'on';
  return `${power} ${reboots.soft} ${reboots.hard}`;
}

async function reboot(api: Api, live: Server, type: 'HARD' | 'SOFT', notes: Notes): Promise<Step> {
  await act(api, live, { reboot: { type } });
  return { doing: 'rebooting', notes };
}

/** Nova stops and suspends only what is on, so that a suspended machine is woken before it is stopped. */
async function towards(api: Api, live: Server, power: MachineSpec['power']): Promise<Step> {
  if (live.status === 'ERROR') await act(api, live, { reboot: { type: 'HARD' } });
  else if (live.status === 'SUSPENDED') await act(api, live, { resume: null });
  else if (live.status === 'PAUSED') await act(api, live, { unpause: null });
  else if (live.status === 'SHUTOFF') await act(api, live, { 'os-start': null });
  else if (live.status !== 'ACTIVE') throw new Refused(`The machine is in the state ${live.status} in Nova`);
  else if (power === 'off') await act(api, live, { 'os-stop': null });
  else await act(api, live, { suspend: null });
  return { doing: 'powering' };
}
