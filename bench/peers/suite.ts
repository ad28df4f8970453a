import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { processTree } from '../start/process-tree.ts';
import { median } from '../support/statistics.ts';
import { markdownTable, shown, shownWithRange } from '../support/table.ts';
import { type Client, createClient, type Times, timesOf } from './client.ts';
import { type Peer, peers, type Running, start, temporaryFolder } from './servers.ts';

/** Groups that are there while reads and lists are measured. */
const GROUPS = 100;
const CONNECTIONS = [1, 8];
/** The round after the start takes this many times as long as the others. */
const FIRST = 3;
const REST_MS = 2_000;

/** Figures by name, one for each round. */
type Figures = Map<string, number[]>;

/** By operation and connections, one for each round. */
type TimesByName = Map<string, Times[]>;

interface Measured {
  peer: Peer;
  figures: Figures;
  times: TimesByName;
  /** Just after the start. */
  first: TimesByName;
}

type Started = Measured & { running: Running; client: Client };

/** Measures Tradewind and other servers that stand in for a cloud in tests: the same operations, in turn. */
export async function measurePeers({ quick }: { quick: boolean }): Promise<string> {
  const rounds = quick ? 1 : 3;
  const ms = quick ? 500 : 1_000;
  const skipped: string[] = [];
  const there = peers.filter((peer) => {
    const fault = peer.install();
    if (fault !== undefined) skipped.push(`Skipped: ${peer.name}. ${fault}`);
    return fault === undefined;
  });
  const measured = there.map((peer): Measured => ({ peer, figures: new Map(), times: new Map(), first: new Map() }));
  for (let round = 0; round < rounds; round++) {
    for (const each of measured) {
      process.stderr.write(`${each.peer.name}: start ...\n`);
      await measureStart(each);
    }
  }
  await measureRequests(measured, rounds, ms);
  const names = there.map(({ name }) => name);
  const operations = ['operation, connections', ...names];
  return [
    markdownTable(
      ['', ...names],
      [['what it is told, it keeps', ...there.map(({ keeps }) => keeps)], ...figureRows(measured)],
    ),
    '\nRequests per second of servers in use (in brackets the slowest and the fastest round) · p50 · p95 in ms:\n',
    markdownTable(operations, timeRows(measured.map(({ times }) => times))),
    `\nThe first round after the start, up to ${(FIRST * ms) / 1_000} s of each operation:\n`,
    markdownTable(operations, timeRows(measured.map(({ first }) => first))),
    ...skipped.map((why) => `\n${why}`),
  ].join('\n');
}

async function measureStart({ peer, figures }: Measured): Promise<void> {
  const folder = temporaryFolder();
  try {
    for (const name of ['start', ...(peer === peers[0] ? ['start with data'] : [])]) {
      const server = await start(peer, folder);
      note(figures, `${name}: s to the first answer`, server.seconds);
      note(figures, `${name}: CPU s`, server.cpuSeconds);
      await sleep(REST_MS);
      if (name === 'start') note(figures, 'MB PSS after the start', processTree(server.pid).pssMegabytes);
      await server.stop();
    }
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

/** All run at the same time, but only one of them has something to do. */
async function measureRequests(measured: readonly Measured[], rounds: number, ms: number): Promise<void> {
  const folder = temporaryFolder();
  const servers: Started[] = [];
  try {
    for (const each of measured) {
      const running = await start(each.peer, folder);
      servers.push({ ...each, running, client: createClient(running.port) });
    }
    process.stderr.write('just started ...\n');
    for (const each of servers) await oneRound(each, each.first, 1, FIRST * ms);
    for (let round = 0; round < rounds; round++) await allRounds(servers, ms);
    for (const { client } of servers) client.close();
    await sleep(REST_MS);
    for (const { figures, running } of servers)
      note(figures, 'MB PSS two seconds after the requests', processTree(running.pid).pssMegabytes);
  } finally {
    await Promise.all(servers.map(({ running }) => running.stop()));
    fs.rmSync(folder, { recursive: true });
  }
}

async function allRounds(servers: readonly Started[], ms: number): Promise<void> {
  for (const connections of CONNECTIONS) {
    process.stderr.write(`${connections} at a time ...\n`);
    for (const each of servers) {
      await warmUp(each, connections, ms);
      await oneRound(each, each.times, connections, ms);
    }
  }
}

/** Uses a server that has rested while the others had their turns. */
async function warmUp({ peer, client }: Started, connections: number, ms: number): Promise<void> {
  const until = performance.now() + ms;
  async function lane(): Promise<void> {
    // Whatever fails is counted in the round.
    while (performance.now() < until) await useOnce().catch(() => {});
  }
  async function useOnce(): Promise<void> {
    const id = peer.idIn(await client.call(newGroup(peer)));
    await client.call(peer.read(id));
    await client.call(peer.list());
    await client.call(peer.delete(id));
  }
  await Promise.all(Array.from({ length: connections }, lane));
}

let made = 0;
const newGroup = (peer: Peer) => peer.create(`bench-${++made}`);

async function oneRound({ peer, client }: Started, times: TimesByName, connections: number, ms: number): Promise<void> {
  const keep = (operation: string, result: Times) => {
    const name = `${operation}, ${connections}`;
    times.set(name, [...(times.get(name) ?? []), result]);
  };
  const create = () => newGroup(peer);
  const ids: string[] = [];
  const created = (answer: string) => void ids.push(peer.idIn(answer));
  for (let n = 0; n < GROUPS; n++) created(await client.call(create()));
  let n = 0;
  keep('read', await timesOf(client, connections, ms, () => peer.read(ids[n++ % ids.length] ?? '')));
  keep('list', await timesOf(client, connections, ms, peer.list));
  keep('create', await timesOf(client, connections, ms, create, created));
  const remove = () => {
    const id = ids.pop();
    return id === undefined ? undefined : peer.delete(id);
  };
  keep('delete', await timesOf(client, connections, ms, remove));
  await timesOf(client, 1, Number.POSITIVE_INFINITY, remove);
}

function note(figures: Figures, name: string, value: number): void {
  figures.set(name, [...(figures.get(name) ?? []), value]);
}

function figureRows(measured: readonly Measured[]): string[][] {
  const names = [...new Set(measured.flatMap(({ figures }) => [...figures.keys()]))];
  return names.map((name) => [name, ...measured.map(({ figures }) => shownWithRange(figures.get(name) ?? []))]);
}

function timeRows(measured: readonly TimesByName[]): string[][] {
  const cell = (times: readonly Times[] = []) => {
    const failed = times.reduce((sum, each) => sum + each.failed, 0);
    const [rates, ...latencies] = (['requestsPerSecond', 'p50', 'p95'] as const).map((key) =>
      times.map((each) => each[key]),
    );
    const figures = [shownWithRange(rates ?? []), ...latencies.map((each) => shown(median(each)))].join(' · ');
    return failed === 0 ? figures : `${figures}, ${failed} failed`;
  };
  const [first] = measured;
  const names = ['create', 'read', 'list', 'delete'].flatMap((operation) =>
    CONNECTIONS.map((connections) => `${operation}, ${connections}`),
  );
  return names
    .filter((name) => first?.has(name))
    .map((name) => [name, ...measured.map((times) => cell(times.get(name)))]);
}
