import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Api, createApi } from '../support/api.ts';
import { BEHIND, benchFile } from '../support/child.ts';
import { openPool, startDatabase } from '../support/database.ts';
import { startProduct } from '../support/product.ts';
import { markdownTable, shown } from '../support/table.ts';
import type { Orders, Statuses } from './attacker.ts';
import { type Account, ATTACKS, type Attack, type Shot } from './attacks.ts';
import { type Noticed, watch } from './bystander.ts';

/** How many times as long as at rest a bystander may wait at p95. */
const TARGET = 3;
/** An attack is under way for so long before anybody looks. */
const LEAD_MS = 1_000;
/** After each attack, until what it left behind is done. */
const REST_MS = 3_000;
const CHANGES = 100;

/**
 * Measures what a client of another account notices of attacks, on two processes, a worker, and one database. The client has a
 * machine of its own, as far as one can have that here: everything else goes behind it.
 */
export async function measureAttacks({ quick, only = '' }: { quick: boolean; only?: string }): Promise<string> {
  const attacks = ATTACKS.filter(({ name }) => name.includes(only));
  const database = await startDatabase();
  await database.goBehind();
  const pool = openPool(database.connection);
  const stops: (() => Promise<unknown>)[] = [() => pool.end(), () => database.stop()];
  try {
    const settings = {
      DATABASE_URL: database.url,
      // As it is by default.
      TRADEWIND_RATE_LIMIT: '10000',
      TRADEWIND_SIMULATION_SPEED: '1000',
    };
    const worker = await startProduct(settings, { behind: true });
    stops.unshift(() => worker.stop());
    const ports: number[] = [];
    for (const _ of [1, 2]) {
      const product = await startProduct(settings, { role: 'api', behind: true });
      stops.unshift(() => product.stop());
      ports.push(product.port);
    }
    const platform = createApi(worker.port);
    const [attacker, bystander] = [
      await accountOf(platform, worker.port, 'A'),
      await accountOf(platform, worker.port, 'B'),
    ];
    const api = createApi(worker.port, attacker.token);
    const look = () =>
      watch(ports, bystander, quick ? { ms: 2_000, changes: CHANGES / 10 } : { ms: 10_000, changes: CHANGES });
    const rows: string[][] = [];
    // Everything is compiled, and in the caches, by the second time.
    await look();
    const idle = await look();
    rows.push(row('nothing', idle, idle, {}));
    for (const attack of attacks) {
      process.stderr.write(`${attack.name} ...\n`);
      const shots = await attack.prepare({ api, database: pool, attacker });
      const { noticed, statuses } = await under(attack, { ports, token: attacker.token, shots }, look);
      rows.push(row(`${attack.name}, ${attack.atOnce} at a time`, noticed, idle, statuses));
      await sleep(REST_MS);
    }
    const head = [
      'attack',
      'p95 ms',
      'of idle',
      'events p95 ms',
      'of idle',
      'refused changes',
      "the attacker's answers",
    ];
    return `${markdownTable(head, rows)}\n\nThe target is ${TARGET} times idle's p95, and no refused change.`;
  } finally {
    for (const stop of stops) await stop();
  }
}

async function accountOf(platform: Api, port: number, company: string): Promise<Account> {
  const { id: clientId } = (await platform.call('POST', '/iam/clients/create', { company })) as {
    id: number;
  };
  const { token } = (await platform.call('POST', `/iam/v2/clients/${clientId}/tokens`, {
    name: 'bench',
    exp_date: null,
    client_user: { role: { name: 'Administrators' } },
  })) as { token: string };
  const projects = await createApi(port, token).call('GET', '/cloud/v1/projects');
  const [project] = (projects as { results: { id: number }[] }).results;
  return { clientId, projectId: project?.id ?? 0, token };
}

async function under(
  { atOnce }: Attack,
  aim: { ports: readonly number[]; token: string; shots: Shot[] },
  look: () => Promise<Noticed>,
): Promise<{ noticed: Noticed; statuses: Statuses }> {
  const [execPath, ...before] = BEHIND;
  const child = fork(benchFile('attacks/attacker.ts'), {
    execPath,
    execArgv: [...before, process.execPath, '--import', 'tsx'],
  });
  try {
    child.send({ ...aim, atOnce } satisfies Orders);
    await sleep(LEAD_MS);
    const noticed = await look();
    const ended = once(child, 'message');
    child.send('stop');
    const [statuses] = (await ended) as [Statuses];
    return { noticed, statuses };
  } finally {
    child.kill();
  }
}

function row(name: string, seen: Noticed, idle: Noticed, statuses: Statuses): string[] {
  const ratio = seen.p95 / idle.p95;
  return [
    name,
    shown(seen.p95),
    `${ratio > TARGET ? 'MISSED ' : ''}${shown(ratio)}`,
    shown(seen.eventP95),
    shown(seen.eventP95 / idle.eventP95),
    `${seen.refused > 0 ? 'MISSED ' : ''}${seen.refused} of ${seen.changes}`,
    Object.entries(statuses)
      .map(([status, count]) => `${count} × ${status}`)
      .join(', '),
  ];
}
