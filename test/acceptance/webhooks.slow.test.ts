import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/databases.ts';
import { createHttpClient } from '../support/http-client.ts';
import { build, type ServeProcess, serve, takeForDead, temporaryFolder } from './processes.ts';

const TOKEN = '7$acceptance-secret';
const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJxkAbvWdOEd5GCpYBvaUUYRzIqJCZ4QbQo1hzoQF9tV';
const SUBJECTS = 12;
const WRITERS = 4;
const WRITES = 160;
const ARRIVES_WITHIN_MS = 120_000;

/** What the receiver got, in this order. */
interface Arrival {
  id: string;
  body: string;
  /** Whether it answered 200. */
  accepted: boolean;
}

let database: TestDatabase;
let pool: pg.Pool;
let settings: Record<string, string>;
let receiver: Receiver;
const processes: Partial<Record<'api' | 'one' | 'two', ServeProcess>> = {};
beforeAll(async () => {
  build();
  receiver = await openReceiver();
  database = await createDatabase({ empty: true });
  pool = new pg.Pool({ connectionString: database.url, max: 1 });
  settings = {
    DATABASE_URL: database.url,
    TRADEWIND_DATA_DIR: temporaryFolder(),
    TRADEWIND_BOOTSTRAP_TOKEN: TOKEN,
    TRADEWIND_RATE_LIMIT: '0',
    TRADEWIND_WEBHOOK_ALLOW_HOSTS: new URL(receiver.url).host,
    TRADEWIND_LOG_LEVEL: 'warn',
  };
  await start('api');
  await Promise.all([start('one'), start('two')]);
});
afterAll(async () => {
  await Promise.all(Object.values(processes).map((each) => each.end('SIGKILL')));
  await receiver?.stop();
  await pool?.end();
  await database?.drop();
});

async function start(name: keyof typeof processes): Promise<void> {
  processes[name] = await serve(settings, ['--role', name === 'api' ? 'api' : 'worker']);
}

async function kill(name: keyof typeof processes): Promise<void> {
  const victim = processes[name] as ServeProcess;
  expect(await victim.end('SIGKILL')).toBe('SIGKILL');
  await takeForDead(pool, victim);
}

const api = () => createHttpClient(processes.api?.url ?? '', TOKEN);

it('sends every event, in order for each subject, whoever fails, is slow or dies', async () => {
  const made = await Promise.all(
    Array.from({ length: SUBJECTS }, (_, index) =>
      api().post('/cloud/v1/ssh_keys/1', { name: `key ${index}`, public_key: KEY }),
    ),
  );
  const keys: string[] = made.map(({ body }) => body.id);
  const { status, body: webhook } = await api().post('/tradewind/v1/webhooks', {
    url: receiver.url,
    types: ['tradewind.ssh_key.*'],
  });
  expect(status).toBe(201);
  receiver.expects(webhook.secret);

  let acknowledged = 0;
  const writing = Promise.all(
    Array.from({ length: WRITERS }, async (_, writer) => {
      for (let number = writer; number < WRITES; number += WRITERS) {
        const change = { shared_in_project: number % 2 === 0 };
        const path = `/cloud/v1/ssh_keys/1/${keys[(number * 7) % SUBJECTS]}`;
        // Nobody knows what became of a request that was cut off, so it is made again.
        while (
          (
            await api()
              .patch(path, change)
              .catch(() => undefined)
          )?.status !== 200
        )
          await sleep(50);
        acknowledged++;
      }
    }),
  );
  const reached = (count: number) =>
    expect.poll(() => acknowledged, { timeout: ARRIVES_WITHIN_MS, interval: 5 }).toBeGreaterThanOrEqual(count);
  await reached(WRITES / 4);
  await kill('one');
  await reached(WRITES / 2);
  await kill('api');
  await Promise.all([start('api'), start('one')]);
  await reached((WRITES / 4) * 3);
  await receiver.die();
  await kill('two');
  await writing;
  await start('two');
  await receiver.comeBack();

  const { body: told } = await api().get(
    '/tradewind/v1/events?cursor=oldest&type=tradewind.ssh_key.updated&limit=1000',
  );
  const events: { id: string; subject: string }[] = told.events;
  expect(events.length).toBeGreaterThanOrEqual(WRITES);
  const accepted = () => new Set(receiver.arrivals.filter((one) => one.accepted).map(({ id }) => id));
  await expect
    .poll(() => events.filter(({ id }) => !accepted().has(id)).length, {
      timeout: ARRIVES_WITHIN_MS,
      interval: 100,
    })
    .toBe(0);
  // Each event once, when it was first accepted.
  const order = [...accepted()];
  expect(order).toHaveLength(events.length);
  for (const subject of new Set(events.map((event) => event.subject))) {
    const own = events.filter((event) => event.subject === subject).map(({ id }) => id);
    expect(order.filter((id) => own.includes(id))).toEqual(own);
  }
  expect(receiver.unverified()).toEqual([]);
  const bodies = new Map(receiver.arrivals.map(({ id, body }) => [id, body]));
  expect(receiver.arrivals.every(({ id, body }) => bodies.get(id) === body)).toBe(true);
  // It did fail, and it was asked again.
  expect(receiver.arrivals.filter((one) => !one.accepted).length).toBeGreaterThan(10);
  const pending = async () =>
    (await api().get(`/tradewind/v1/webhooks/${webhook.id}/deliveries?state=pending`)).body.results;
  await expect.poll(pending, { timeout: ARRIVES_WITHIN_MS }).toEqual([]);
});

interface Receiver {
  url: string;
  arrivals: Arrival[];
  /** From now on, what arrives has to be signed with this secret. */
  expects(secret: string): void;
  /** Why signatures of messages were not valid. */
  unverified(): string[];
  die(): Promise<void>;
  comeBack(): Promise<void>;
  stop(): Promise<void>;
}

/** Opens a receiver that refuses every seventh event, takes its time for every fifth, and hangs up on every 23rd. */
async function openReceiver(): Promise<Receiver> {
  const arrivals: Arrival[] = [];
  const unverified: string[] = [];
  let webhook: Webhook | undefined;
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => {});
    request.on('end', async () => {
      const body = Buffer.concat(chunks).toString();
      const headers = request.headers as Record<string, string>;
      try {
        webhook?.verify(body, headers);
      } catch (error) {
        unverified.push(String(error));
      }
      const arrival = { id: headers['webhook-id'] ?? '', body, accepted: false };
      const number = arrivals.push(arrival);
      if (number % 23 === 0) return request.destroy();
      if (number % 5 === 0) await sleep(200);
      if (response.destroyed) return;
      const status = number % 7 === 0 ? 500 : 200;
      arrival.accepted = status === 200;
      response.writeHead(status).end();
    });
  });
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', () => resolve()));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const die = async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  };
  return {
    url: `http://127.0.0.1:${port}/in`,
    arrivals,
    expects: (secret) => {
      webhook = new Webhook(secret);
    },
    unverified: () => unverified,
    die,
    comeBack: () => listen(port),
    stop: die,
  };
}
