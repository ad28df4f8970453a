import { spawn } from 'node:child_process';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/databases.ts';
import { createHttpClient, type HttpClient } from '../support/http-client.ts';
import { build, type ServeProcess, serve, temporaryFolder } from './processes.ts';

const TOKEN = '7$acceptance-secret';
const TYPE = 'tradewind.ssh_key.updated';
const WRITERS = 16;
const WRITES = 10_000;
const SUBJECTS = 40;
/** After so many events the listener is killed. */
const LIFE = 700;

let database: TestDatabase;
let apis: ServeProcess[];
let clients: HttpClient[];
beforeAll(async () => {
  build();
  database = await createDatabase({ empty: true });
  const settings = {
    DATABASE_URL: database.url,
    TRADEWIND_DATA_DIR: temporaryFolder(),
    TRADEWIND_BOOTSTRAP_TOKEN: TOKEN,
    TRADEWIND_RATE_LIMIT: '0',
  };
  const first = await serve(settings, ['--role', 'api']);
  apis = [first, await serve(settings, ['--role', 'api'])];
  clients = apis.map(({ url }) => createHttpClient(url, TOKEN));
});
afterAll(async () => {
  await Promise.all(apis.map((api) => api.end()));
  await database.drop();
});

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJxkAbvWdOEd5GCpYBvaUUYRzIqJCZ4QbQo1hzoQF9tV';

interface Told {
  id: string;
  subject: string;
  data: { revision: { before: number; after: number } };
}

it('tells a listener that is killed and resumes every event once, in order for each subject', async () => {
  const [first] = clients as [HttpClient];
  const made = await Promise.all(
    Array.from({ length: SUBJECTS }, (_, index) =>
      first.post('/cloud/v1/ssh_keys/1', { name: `key ${index}`, public_key: KEY }),
    ),
  );
  const keys: string[] = made.map(({ status, text, body }) => {
    expect(status, text).toBe(201);
    return body.id;
  });
  const { body: before } = await first.get('/tradewind/v1/events');
  const told: Told[] = [];
  const listening = listen(before.cursor, told);
  let written = 0;
  await Promise.all(
    Array.from({ length: WRITERS }, async (_, writer) => {
      const http = clients[writer % clients.length] as HttpClient;
      while (written < WRITES) {
        const number = written++;
        // Writers meet at the same keys, over both processes.
        const answer = await http.patch(`/cloud/v1/ssh_keys/1/${keys[(number * 7) % SUBJECTS]}`, {
          shared_in_project: number % 2 === 0,
        });
        expect(answer.status, answer.text).toBe(200);
      }
    }),
  );
  const lives = await listening;
  expect(lives).toBeGreaterThan(10);
  expect(told.length).toBe(WRITES);
  expect(new Set(told.map(({ id }) => id)).size).toBe(WRITES);
  const revisions = new Map(keys.map((id) => [`ssh_key/${id}`, 1]));
  for (const { subject, data } of told) {
    expect(data.revision).toEqual({ before: revisions.get(subject), after: data.revision.before + 1 });
    revisions.set(subject, data.revision.after);
  }
});

/** Listens to one process after the other until it has been told of every write. Returns how often it began. */
async function listen(cursor: string, told: Told[]): Promise<number> {
  let lives = 0;
  for (let last = cursor; told.length < WRITES; lives++) {
    const { url } = apis[lives % apis.length] as ServeProcess;
    last = await oneLife(url, last, told);
  }
  return lives;
}

const LISTENER = `
const [url, authorization, cursor] = process.argv.slice(1);
const answer = await fetch(url, { headers: { accept: 'text/event-stream', authorization, 'last-event-id': cursor } });
for await (const chunk of answer.body) process.stdout.write(chunk);
`;

/** Runs a listener that is killed in the middle. Returns the last cursor that it got. */
function oneLife(url: string, cursor: string, told: Told[]): Promise<string> {
  const args = [`${url}/tradewind/v1/events?type=${TYPE}`, `apikey ${TOKEN}`, cursor];
  const child = spawn(process.execPath, ['--input-type=module', '-e', LISTENER, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let last = cursor;
  let text = '';
  let count = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    if (child.killed) return;
    text += chunk.toString();
    const frames = text.split('\n\n');
    text = frames.pop() ?? '';
    for (const frame of frames) {
      last = /^id: (\d+)$/m.exec(frame)?.[1] ?? last;
      expect(frame).not.toContain('event: reset');
      const data = /^data: (.*)$/m.exec(frame)?.[1];
      if (data === undefined) continue;
      told.push(JSON.parse(data));
      if (++count < LIFE && told.length < WRITES) continue;
      // What has been sent and not read is lost.
      child.kill('SIGKILL');
      return;
    }
  });
  return new Promise((resolve) => child.once('close', () => resolve(last)));
}
