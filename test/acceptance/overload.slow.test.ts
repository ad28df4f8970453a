import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/databases.ts';
import { type Answer, createHttpClient, type HttpClient } from '../support/http-client.ts';
import { build, type ServeProcess, serve, temporaryFolder } from './processes.ts';

const TOKEN = '7_acceptance-secret';
const CONNECTIONS = 256;

let database: TestDatabase;
let service: ServeProcess;
let http: HttpClient;
let other: HttpClient;
let otherClient: number;
let blocker: pg.Client;
beforeAll(async () => {
  build();
  database = await createDatabase({ empty: true });
  service = await serve({
    DATABASE_URL: database.url,
    TRADEWIND_DATA_DIR: temporaryFolder(),
    TRADEWIND_BOOTSTRAP_TOKEN: TOKEN,
  });
  http = createHttpClient(service.url, TOKEN);
  const made = await http.post('/iam/clients/create', { company: 'Another' });
  otherClient = made.body.id;
  const role = { name: 'Administrators' };
  const tokens = `/iam/v2/clients/${otherClient}/tokens`;
  const token = await http.post(tokens, { name: 'other', exp_date: null, client_user: { role } });
  other = createHttpClient(service.url, token.body.token);
  blocker = new pg.Client({ connectionString: database.url });
  await blocker.connect();
});
afterAll(async () => {
  await blocker?.end();
  await service?.end();
  await database?.drop();
});

/**
 * Sends a change over each connection. The names of what it makes begin with `prefix`. A change is refused when it
 * arrives or before its transaction; in between, its key is looked up.
 */
function flood(prefix: string): Promise<Answer>[] {
  return Array.from({ length: CONNECTIONS }, (_, n) => {
    const name = `${prefix}-${n}`;
    const headers = { 'idempotency-key': name };
    return http.request('POST', '/cloud/v1/projects', { body: { name }, headers });
  });
}

async function projects(prefix: string): Promise<string[]> {
  const { body } = await http.get('/cloud/v1/projects?limit=1000');
  const names = body.results.map(({ name }: { name: string }) => name);
  return names.filter((name: string) => name.startsWith(prefix)).sort();
}

const namesOf = (answers: Answer[]): string[] => answers.map(({ body }): string => body.name).toSorted();

describe('when more changes come than the database takes', () => {
  let waiting: Promise<Answer>[];
  const refused: Answer[] = [];

  it('refuses those that would wait too long at once, while none of the others is through', async () => {
    // Only changes wait for this lock.
    await blocker.query('begin; lock table projects in exclusive mode');
    waiting = flood('first');
    for (const answer of waiting) void answer.then((one) => one.status === 503 && refused.push(one));
    // At most 8 changes of an account have a connection, and 144 wait for one.
    await expect.poll(() => refused.length).toBe(CONNECTIONS - 152);
    for (const { headers, body } of refused) {
      expect(headers.get('retry-after')).toBe('1');
      expect(body).toEqual({
        exception_class: 'UnavailableError',
        message: expect.stringMatching(/^Too many changes of your account are waiting.*try again/),
        request_id: expect.any(String),
      });
    }
  });

  it('keeps no record of them', async () => {
    // Written within a second, and before this list is made.
    const { body } = await http.get('/cloud/v1/request_log?outcome=failed');
    expect(body.count).toBe(0);
  });

  it('refuses one more in the form of its area', async () => {
    const answer = await http.post('/iam/clients/create', { company: 'Later' });
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
    expect(answer.body).toEqual({ message: expect.stringMatching(/^Too many changes/) });
  });

  it('warns once in ten seconds', () => {
    expect(service.stderr().match(/Too many changes/g)).toHaveLength(1);
  });

  it('refuses nothing of another account', async () => {
    const statuses = await Promise.all(
      Array.from({ length: 90 }, async (_, n) => {
        const body = { name: `token ${n}`, exp_date: null, client_user: { role: { name: 'Users' } } };
        return (await other.post(`/iam/v2/clients/${otherClient}/tokens`, body)).status;
      }),
    );
    expect(statuses).toEqual(Array(90).fill(200));
  });

  it('still answers reads', async () => {
    const paths = ['/cloud/v1/projects', '/cloud/v1/securitygroups/1/1', '/cloud/v1/tasks', '/readyz'];
    for (const path of paths) expect((await http.get(path)).status, path).toBe(200);
    expect(await projects('first')).toEqual([]);
  });

  it('carries out each change that waited', async () => {
    await blocker.query('rollback');
    const answers = await Promise.all(waiting);
    const done = answers.filter(({ status }) => status === 201);
    expect(done).toHaveLength(152);
    expect(await projects('first')).toEqual(namesOf(done));
  });

  it('takes changes again, and has made exactly those that it accepted', async () => {
    expect((await http.post('/cloud/v1/projects', { name: 'after the flood' })).status).toBe(201);
    const answers = await Promise.all(flood('second'));
    const statuses = new Set(answers.map(({ status }) => status));
    expect([...statuses].filter((status) => status !== 201 && status !== 503)).toEqual([]);
    const done = answers.filter(({ status }) => status === 201);
    expect(await projects('second')).toEqual(namesOf(done));
  });
});
