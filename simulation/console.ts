import { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import type { ClusterSpec, MachineSpec, PortSpec, VolumeSpec } from '../src/backends/contract/specs.ts';
import type { Tables } from '../src/db/tables.ts';
import { fateIn, findObject, REMOVING } from './objects.ts';

/** A running machine, as its console shows it. */
export interface Guest {
  name: string;
  /** Another number says that it has booted again. */
  boots: number;
  ageMs: number;
  /** What it finds when it boots. */
  hardware: string[];
}

/** Returns a machine, or a node of a cluster, if it runs. */
export async function findGuest(
  db: Kysely<Tables>,
  { kind, id, machineId }: { kind: 'cluster' | 'machine'; id: string; machineId: string },
): Promise<Guest | undefined> {
  const found = await findObject(db, kind, id);
  if (!found || found.doing === REMOVING) return undefined;
  if (kind === 'cluster') {
    const pools = Object.values((found.spec as ClusterSpec).pools);
    const pool = pools.find(({ nodes }) => nodes[machineId]);
    const node = pool?.nodes[machineId];
    if (!pool || !node) return undefined;
    const hardware = [`flavor ${pool.flavorId}`, ...Object.values(node.ports).map(interfaceLine)];
    return { name: node.name, boots: 0, ageMs: found.age_ms, hardware };
  }
  const { name, flavorId, power, reboots, disks, ports } = found.spec as MachineSpec;
  if (power !== 'on' || fateIn(found.doing)) return undefined;
  const { rows } = await sql<{ id: string; kind: string; spec: VolumeSpec | PortSpec }>`
    select id, kind, spec from simulated_objects
    where (kind = 'volume' and id = any(${Object.keys(disks)}::uuid[]))
      or (kind = 'port' and id = any(${Object.keys(ports)}::uuid[]))
    order by kind desc, id`.execute(db);
  const lines = rows.map((row) =>
    row.kind === 'port' ? interfaceLine(row.spec as PortSpec) : diskLine(disks[row.id]?.device, row.spec as VolumeSpec),
  );
  const boots = reboots.soft + reboots.hard;
  return { name, boots, ageMs: found.age_ms, hardware: [`flavor ${flavorId}`, ...lines] };
}

const interfaceLine = ({ macAddress, addresses }: PortSpec): string =>
  `net: ${macAddress} has ${Object.keys(addresses).join(', ') || 'no address'}`;

const diskLine = (device = '/dev/vd?', { sizeGib, source }: VolumeSpec): string =>
  `disk: ${device}, ${sizeGib} GiB${source && 'imageId' in source ? `, from image ${source.imageId}` : ''}`;

/** Time between two lines of a boot log at speed 1, and how often to look at the machine. */
const LINE_MS = 150;
const LOOK_MS = 1_000;
const MOST_TYPED = 64;

const bootLog = ({ name, boots, hardware }: Guest): string[] => {
  const lines = ['Booting a simulated machine', `boot ${boots + 1}`, ...hardware, 'No guest to start', 'Ready'];
  const stamped = lines.map((line, at) => `[${((at * LINE_MS) / 1_000).toFixed(6).padStart(12)}] ${line}\r\n`);
  return [...stamped, `\r\n${name} login: `];
};

/**
 * Plays the serial console of a machine. What was printed before somebody looks is shown at once. It ends when `look` no
 * longer finds the machine running.
 */
export function serialConsole(look: () => Promise<Guest | undefined>, speed: number): Duplex {
  const gone = new AbortController();
  let name = '';
  let typed = '';
  let coming: string[] = [];
  let resume: (() => void) | undefined;
  const console = new Duplex({
    read() {
      resume?.();
      resume = undefined;
    },
    write(chunk, _encoding, done) {
      // Nobody listens before the prompt.
      const echo = coming.length > 0 ? '' : [...String(chunk)].map(typedIn).join('');
      if (echo === '' || console.push(echo)) done();
      else resume = done;
    },
    destroy(error, done) {
      gone.abort();
      done(error);
    },
  });

  /** Returns what a key shows. */
  function typedIn(key: string): string {
    if (key === '\r') {
      const said = typed === '' ? '' : 'This is a simulated machine. It runs no guest, so nobody can log in.\r\n\r\n';
      typed = '';
      return `\r\n${said}${name} login: `;
    }
    if (key === '\x7f' || key === '\b') {
      if (typed === '') return '';
      typed = typed.slice(0, -1);
      return '\b \b';
    }
    if (key < ' ' || typed.length >= MOST_TYPED) return '';
    typed += key;
    return key;
  }

  async function play(): Promise<void> {
    let boots: number | undefined;
    let bootedAt = 0;
    for (let guest = await look(); guest; guest = await look()) {
      if (guest.boots !== boots) {
        if (boots !== undefined) console.push('\r\n\r\nRestarting\r\n');
        ({ name, boots } = guest);
        typed = '';
        bootedAt = performance.now() - guest.ageMs;
        coming = bootLog(guest);
      }
      const shown = Math.floor(((performance.now() - bootedAt) * speed) / LINE_MS) + 1;
      const left = Math.max(0, bootLog(guest).length - shown);
      while (coming.length > left) console.push(coming.shift());
      await sleep(coming.length > 0 ? Math.min(LOOK_MS, LINE_MS / speed) : LOOK_MS, undefined, gone);
    }
    console.push('\r\n\r\nThe machine has stopped\r\n');
    console.push(null);
  }

  play().catch((error: unknown) => console.destroy(gone.signal.aborted ? undefined : (error as Error)));
  return console;
}
