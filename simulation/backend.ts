import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type Kysely, sql } from 'kysely';
import {
  type Convergence,
  type Kind,
  type LoadQuestion,
  type MachineLoad,
  Refused,
} from '../src/backends/contract/backend.ts';
import { holdsData } from '../src/backends/contract/needs.ts';
import type { ClusterSpec, Observations, ServerGroupSpec, Specs } from '../src/backends/contract/specs.ts';
import type { Change, MadeBackend } from '../src/backends/maker.ts';
import type { Tables } from '../src/db/tables.ts';
import type { Secrets } from '../src/secrets/secrets.ts';
import { findGuest, serialConsole } from './console.ts';
import type { Health } from './health.ts';
import { LIVES, type Life, type Phase } from './lives.ts';
import * as objects from './objects.ts';

/** In the words of Nova. */
const NO_HOST = 'No valid host was found. There are not enough hosts available for the placement group.';

/**
 * Gives a machine one of the hosts, as the policy of its group wants it. It keeps the host as long as it is in the group.
 * @throws Refused if every host has another machine of an anti-affinity group
 */
export async function placeMachine(
  db: Kysely<Tables>,
  machineId: string,
  groupId: string | undefined,
  hosts: number,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    // Two machines of a group choose one after the other.
    await sql`select pg_advisory_xact_lock(hashtextextended(${groupId ?? machineId}, 0))`.execute(tx);
    const now = await tx
      .selectFrom('simulated_hosts')
      .select(['server_group_id', 'host'])
      .where('machine_id', '=', machineId)
      .executeTakeFirst();
    if (now && now.server_group_id === (groupId ?? null)) return;
    const host =
      groupId === undefined
        ? (now?.host ?? Math.floor(Math.random() * hosts))
        : hostIn(await policyOf(tx, groupId), await taken(tx, groupId), hosts, now?.host);
    const row = { machine_id: machineId, server_group_id: groupId ?? null, host };
    await tx
      .insertInto('simulated_hosts')
      .values(row)
      .onConflict((conflict) => conflict.column('machine_id').doUpdateSet(row))
      .execute();
  });
}

export async function freeHost(db: Kysely<Tables>, machineId: string): Promise<void> {
  await db.deleteFrom('simulated_hosts').where('machine_id', '=', machineId).execute();
}

/** The nodes of a pool are on different hosts, too. @throws Refused */
export function refuseLargePools({ pools }: ClusterSpec, hosts: number): void {
  for (const { serverGroupPolicy, nodes } of Object.values(pools)) {
    if (serverGroupPolicy === 'anti-affinity' && Object.keys(nodes).length > hosts) throw new Refused(NO_HOST);
  }
}

/** The machine stays where it is if that is as good as any. */
export function hostIn(
  policy: ServerGroupSpec['policy'],
  others: readonly number[],
  hosts: number,
  present = 0,
): number {
  const [first] = others;
  if (policy === 'affinity') return first ?? present;
  const load = Array.from({ length: hosts }, (_, host) => others.filter((one) => one === host).length);
  const least = Math.min(...load);
  if (policy === 'anti-affinity' && least > 0) throw new Refused(NO_HOST);
  return load[present] === least ? present : load.indexOf(least);
}

async function policyOf(db: Kysely<Tables>, groupId: string): Promise<ServerGroupSpec['policy']> {
  const group = await db
    .selectFrom('simulated_objects')
    .select('spec')
    .where('kind', '=', 'server_group')
    .where('id', '=', groupId)
    .executeTakeFirst();
  return (group?.spec as ServerGroupSpec | undefined)?.policy ?? 'soft-anti-affinity';
}

async function taken(db: Kysely<Tables>, groupId: string): Promise<number[]> {
  const rows = await db
    .selectFrom('simulated_hosts')
    .select('host')
    .where('server_group_id', '=', groupId)
    .orderBy('host')
    .execute();
  return rows.map(({ host }) => host);
}

const DAY_MS = 86_400_000;
/** How far a day's wave and chance move a figure away from its mean. */
const WAVE = 0.5;
const CHANCE = 0.1;
/** Bytes in a packet, and in a read or write of a disk. */
const PACKET = 800;
const BLOCK = 4096;

/** Returns numbers from 0 to 1, always the same for the same text. */
function numbersOf(text: string): (index: number) => number {
  const digest = createHash('sha256').update(text).digest();
  return (index) => digest.readUInt32BE((index * 4) % digest.length) / 2 ** 32;
}

const between = (low: number, high: number, share: number) => low + (high - low) * share;
const rounded = (value: number, digits = 0) => Math.round(value * 10 ** digits) / 10 ** digits;

/**
 * Returns the load that a machine or a load balancer would have if it had any. Its id decides on its means (5 to 45 per cent of
 * CPU, 20 to 80 of memory, up to 100 kB a second and direction, up to 500 kB a second and disk) and on the hour at which
 * its day is at its height. All but memory goes up and down by half over a day, and everything by a tenth by chance,
 * which the id and the time decide on.
 */
export function simulatedLoad({ machineId, disks, from, to, stepMs }: LoadQuestion): MachineLoad[] {
  const own = numbersOf(machineId);
  const means = {
    cpu: between(5, 45, own(0)),
    memory: between(20, 80, own(1)),
    bytesIn: between(1_000, 100_000, own(2)),
    bytesOut: between(1_000, 100_000, own(3)),
  };
  const ofDisks = disks.map((name) => ({
    name,
    mean: between(4_096, 500_000, numbersOf(`${machineId} ${name}`)(0)),
  }));

  function at(time: number): MachineLoad {
    const chance = numbersOf(`${machineId} ${time}`);
    const luck = (index: number) => 1 + CHANCE * (2 * chance(index) - 1);
    const wave = 1 + WAVE * Math.sin(2 * Math.PI * (time / DAY_MS - own(4)));
    const [bytesIn, bytesOut] = [rounded(means.bytesIn * wave * luck(2)), rounded(means.bytesOut * wave * luck(3))];
    return {
      time: new Date(time),
      cpuPercent: rounded(means.cpu * wave * luck(0), 2),
      memoryPercent: rounded(means.memory * luck(1), 2),
      network: {
        bytesIn,
        bytesOut,
        packetsIn: rounded(bytesIn / PACKET, 2),
        packetsOut: rounded(bytesOut / PACKET, 2),
      },
      disks: Object.fromEntries(
        ofDisks.map(({ name, mean }, index) => {
          const [bytesRead, bytesWritten] = [
            rounded(mean * wave * luck(4 + index)),
            rounded((mean / 2) * wave * luck(5 + index)),
          ];
          const [reads, writes] = [rounded(bytesRead / BLOCK, 2), rounded(bytesWritten / BLOCK, 2)];
          return [name, { bytesRead, bytesWritten, reads, writes }];
        }),
      ),
    };
  }

  const load: MachineLoad[] = [];
  for (let time = from.getTime(); time <= to.getTime(); time += stepMs) load.push(at(time));
  return load;
}

const COUNTED_MS = 300_000;

/** Returns how many bytes a machine sent in that time, by its load every five minutes. */
function sentIn(machineId: string, from: Date, to: Date): number {
  if (to <= from) return 0;
  const load = simulatedLoad({ machineId, disks: [], from, to: new Date(to.getTime() - 1), stepMs: COUNTED_MS });
  const seconds = ({ time }: MachineLoad) => Math.min(COUNTED_MS, to.getTime() - time.getTime()) / 1_000;
  return Math.round(load.reduce((sum, one) => sum + (one.network?.bytesOut ?? 0) * seconds(one), 0));
}

/** How often to look for what became of machines. */
const LOOK_MS = 500;

/**
 * Infrastructure that exists only in a database table. Things get ready as time passes: their progress follows from
 * when their last change began, by the database's clock, so that restarts and repeated calls change nothing.
 */
export function createSimulatedBackend(deps: {
  sql: Kysely<Tables>;
  secrets: Secrets;
  /** May change while work is in progress. */
  readonly speed: number;
  health?: Health;
  /** How many hosts there are for machines; unlimited if not given. */
  hosts?: number | undefined;
}): MadeBackend {
  const { sql: pool, secrets, health = [], hosts } = deps;

  async function present<K extends Kind>(
    db: Kysely<Tables>,
    kind: K,
    id: string,
    spec: Specs[K],
    signal: AbortSignal,
  ): Promise<Convergence<Observations[K]> | undefined> {
    const life: Life<K> = LIVES[kind];
    life.refuse?.(spec);
    const found = await objects.findObject(db, kind, id);
    // After an abort, another worker may have removed the thing: it must not come back.
    signal.throwIfAborted();
    await place(db, kind, id, spec, hosts);
    const standing = found?.doing === objects.REMOVING ? undefined : found;
    if (!standing || !isDeepStrictEqual(standing.spec, spec)) {
      const phases = standing ? life.changing(standing.spec as Specs[K], spec) : life.making(spec);
      const takesMs = total(phases) / deps.speed;
      const doing = standing ? changeOf(life, standing, spec) : 'making';
      const beginning = { spec, doing, takesMs };
      const done = found
        ? await objects.updateObject(db, kind, id, found.revision, beginning)
        : await objects.insertObject(db, kind, id, beginning);
      return done ? answer({ age_ms: 0, takes_ms: takesMs, doing }, phases) : undefined;
    }
    const phases =
      standing.doing === 'making' ? life.making(spec) : [{ state: 'changing', ms: standing.takes_ms * deps.speed }];
    return answer(standing, phases);

    async function answer(
      at: Pick<objects.SimulatedObject, 'age_ms' | 'doing' | 'takes_ms'>,
      phases: readonly Phase[],
    ) {
      const doing = stateOf(at, phases);
      return doing ?? ({ state: 'settled', observed: await observed(at.doing) } as const);
    }

    async function observed(doing: string): Promise<Observations[K]> {
      const made = life.makes ? await objects.madeOnce({ sql: db, secrets }, kind, id, life.makes) : fateOf(doing);
      return life.observed(id, made, spec, health);
    }
  }

  async function refuseLost(db: Kysely<Tables>, kind: Kind, id: string): Promise<void> {
    const found = await objects.findObject(db, kind, id);
    if (found && found.doing !== objects.REMOVING) return;
    const named = kind.replaceAll('_', ' ');
    throw new Refused(`the ${named} has disappeared from the infrastructure with everything it held`);
  }

  async function absent<K extends Kind>(
    db: Kysely<Tables>,
    kind: K,
    id: string,
  ): Promise<Convergence<null> | undefined> {
    const found = await objects.findObject(db, kind, id);
    if (!found) {
      // The process that was making it may have died after it chose a host.
      if (kind === 'machine') await freeHost(db, id);
      return { state: 'settled', observed: null };
    }
    const { removing } = LIVES[kind];
    if (found.doing !== objects.REMOVING) {
      const takesMs = removing.ms / deps.speed;
      if (
        !(await objects.updateObject(db, kind, id, found.revision, {
          spec: found.spec,
          doing: objects.REMOVING,
          takesMs,
        }))
      ) {
        return undefined;
      }
      if (takesMs >= 1) return progressing(removing.state, takesMs);
      found.revision += 1;
    } else if (found.age_ms < found.takes_ms) {
      return progressing(removing.state, found.takes_ms - found.age_ms);
    }
    const gone = await objects.deleteObject(db, kind, id, found.revision);
    if (gone && kind === 'machine') await freeHost(db, id);
    return gone ? { state: 'settled', observed: null } : undefined;
  }

  /** Returns the phase for the object's age; undefined once all phases are over. */
  function stateOf(
    { age_ms: age, takes_ms: takes }: Pick<objects.SimulatedObject, 'age_ms' | 'takes_ms'>,
    phases: readonly Phase[],
  ): ReturnType<typeof progressing> | undefined {
    if (takes - age < 1) return undefined;
    let end = 0;
    for (const { state, ms } of phases) {
      end += ms / deps.speed;
      if (age < end) return progressing(state, end - age);
    }
    return progressing('finishing', takes - age);
  }

  return {
    problems: () => [],
    converge({ kind, id }, spec, { signal, wasThere }) {
      // Uses one connection for reading and writing: a call that waits for a connection in between would
      // write stale data.
      return pool.connection().execute(async (db) => {
        signal.throwIfAborted();
        if (spec !== null && wasThere && holdsData(kind)) await refuseLost(db, kind, id);
        // If another process did the same step first, look again.
        for (;;) {
          const answer = spec === null ? await absent(db, kind, id) : await present(db, kind, id, spec, signal);
          if (answer) return answer;
        }
      });
    },
    atOnce(tx, changes) {
      const those = changes.filter(takesNoTime);
      const [made, gone] = [those.filter(({ spec }) => spec !== null), those.filter(({ spec }) => spec === null)];
      if (made.length > 0) objects.putObjects(tx, made);
      if (gone.length > 0) objects.dropObjects(tx, gone);
      return new Map(
        those.map(({ kind, id, spec }) => {
          const life: Life<typeof kind> = LIVES[kind];
          return [id, spec && life.observed(id, {}, spec, health)];
        }),
      );
    },
    async observe({ kind, id }) {
      const found = await objects.findObject(pool, kind, id);
      if (!found || found.doing === objects.REMOVING) return null;
      const life: Life<typeof kind> = LIVES[kind];
      const made = life.makes ? await objects.madeOf({ sql: pool, secrets }, kind, id) : fateOf(found.doing);
      return made && life.observed(id, made, found.spec as Specs[typeof kind], health);
    },
    loadOf: async (_ref, question) => simulatedLoad(question),
    trafficOf: async ({ id: machineId }, times) =>
      simulatedLoad({ machineId, disks: [], ...times }).map(({ disks: _, ...load }) => load),
    // Everything goes out through the first port.
    sentBy: async (machines, { from, to }) =>
      new Map(
        machines.flatMap(({ machineId, createdAt, ports: [port] }): [string, number][] =>
          port ? [[port.id, sentIn(machineId, new Date(Math.max(+createdAt, +from)), to)]] : [],
        ),
      ),
    async consoleOf({ kind, id }, { machineId, type = 'serial' }) {
      if (type !== 'serial') return undefined;
      const look = () => findGuest(pool, { kind, id, machineId });
      return { protocol: 'serial', type, open: async () => serialConsole(look, deps.speed) };
    },
    async *watch({ signal }) {
      // Only other rules change the health of members, and a backend with other rules is a new one.
      const balancers = pool.selectFrom('simulated_objects').select('id').where('kind', '=', 'load_balancer');
      for (const { id } of await balancers.execute()) yield { kind: 'load_balancer', id };
      for (let before = new Map<string, string>(); !signal.aborted; ) {
        const now = await objects.fatesOf(pool);
        const ids = [...new Set([...before.keys(), ...now.keys()])];
        for (const id of ids.filter((one) => before.get(one) !== now.get(one))) yield { kind: 'machine', id };
        before = now;
        await sleep(LOOK_MS, undefined, { signal });
      }
    },
    async *list() {
      const rows = await pool.selectFrom('simulated_objects').select(['kind', 'id']).execute();
      for (const { kind, id } of rows) yield { kind: kind as Kind, id, handle: null };
    },
  };
}

const fateOf = (doing: string) => ({ fate: objects.fateIn(doing) });

/** Returns what the object does from then on: most changes leave a machine as it is. */
function changeOf<K extends Kind>(life: Life<K>, { doing, spec: former }: objects.SimulatedObject, spec: Specs[K]) {
  const fate = objects.fateIn(doing);
  return fate && !life.rights?.(former as Specs[K], spec, fate) ? fate : 'changing';
}

/** @throws Refused if the hosts are too few for a placement group */
async function place(
  db: Kysely<Tables>,
  kind: Kind,
  id: string,
  spec: Specs[Kind],
  hosts: number | undefined,
): Promise<void> {
  if (hosts === undefined) return;
  if (kind === 'machine') await placeMachine(db, id, (spec as Specs['machine']).serverGroupId, hosts);
  if (kind === 'cluster') refuseLargePools(spec as Specs['cluster'], hosts);
}

function progressing(doing: string, leftMs: number) {
  return { state: 'progressing', doing, askAgainMs: Math.ceil(leftMs) } as const;
}

/** A thing that holds data may be lost, which only a look at it shows. */
function takesNoTime<K extends Kind>({ kind, former, spec }: Change<K>): boolean {
  if (holdsData(kind)) return false;
  const life: Life<K> = LIVES[kind];
  if (spec === null) return life.removing.ms === 0;
  return total(former === null ? life.making(spec) : life.changing(former, spec)) === 0;
}

function total(phases: readonly Phase[]): number {
  return phases.reduce((sum, { ms }) => sum + ms, 0);
}
