import fs from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { bodyOfChange, bodyOfPost, ownAccount, updatesCluster, WITH_PASSKEYS } from '../support/accepted-bodies.ts';
import { createCoverage, createOperationFinder } from '../support/coverage.ts';
import { createDatabase, type TestDatabase } from '../support/databases.ts';
import { createDryRunTrial } from '../support/dry-runs.ts';
import { every } from '../support/every.ts';
import { finishAiTask } from '../support/finished-ai-tasks.ts';
import { createHttpClient, type HttpClient, SOON } from '../support/http-client.ts';
import { anyEmail, newPerson, PASSWORD } from '../support/logins.ts';
import {
  type DocumentedOperation,
  documentedOperations,
  exampleBody,
  filledPath,
  REFUSED,
  requiredQuery,
  UNSUPPORTED,
  type Values,
} from '../support/openapi.ts';
import { createPossessions, HELD, tasksIn } from '../support/possessions.ts';
import { build, type ServeProcess, serve, temporaryFolder } from './processes.ts';

const TOKEN = '7_acceptance-secret';
const WITHIN = { timeout: 240_000 };
const ONE_AFTER_THE_OTHER = { atOnce: 1 };

/** Tests that every operation under a base address succeeds from outside, with a documented answer. */
export async function everyOperationSucceeds(prefix: string): Promise<void> {
  const all = await documentedOperations();
  const own = all.filter((of) => of.prefix === prefix);
  const coverage = createCoverage(own);
  /** Both base addresses run the same code for a change, so it is tried out only under the first that has it. */
  const isFirst = ({ method, path }: DocumentedOperation) =>
    all.find((of) => of.method === method && of.path === path)?.prefix === prefix;
  const find = createOperationFinder(own);
  const findFirst = (method: string, path: string) => {
    const of = find(method, path);
    return of && isFirst(of) ? of : undefined;
  };
  const trial = createDryRunTrial(findFirst, () => pool);
  const dataDir = temporaryFolder();
  let database: TestDatabase;
  let service: ServeProcess;
  let pool: pg.Pool;
  beforeAll(async () => {
    build();
    database = await createDatabase({ empty: true });
    pool = new pg.Pool({ connectionString: database.url, max: 2 });
    service = await serve({
      DATABASE_URL: database.url,
      TRADEWIND_DATA_DIR: dataDir,
      TRADEWIND_BOOTSTRAP_TOKEN: TOKEN,
      TRADEWIND_SIMULATION_SPEED: '100',
      TRADEWIND_TEST_API: 'true',
      ...WITH_PASSKEYS,
    });
    const held = { task: 'create_volume', name: `${HELD}*`, do: { hold: true } };
    await createHttpClient(service.url, TOKEN).post('/tradewind/v1/test/faults', held);
  }, 120_000);
  afterAll(async () => {
    await service?.end();
    await pool?.end();
    await database?.drop();
    fs.rmSync(dataDir, { recursive: true, force: true });
  });

  const reads = own.filter(({ method }) => method === 'GET');
  const areas = [...new Set(own.map(({ path }) => path.split('/')[1] ?? ''))];
  /** The changes of each area that has such: one after the other, since a dry run is looked for in the whole database. */
  const changes = (...methods: string[]) =>
    areas
      .map((area) => [area, own.filter((of) => methods.includes(of.method) && isIn(area, of))] as const)
      .filter(([, all]) => all.length > 0);
  let http: HttpClient;
  let possessions: ReturnType<typeof createPossessions>;
  beforeAll(async () => {
    http = coverage.recording(trial.trying(createHttpClient(service.url, TOKEN)));
    possessions = createPossessions(under(prefix, http));
    await possessions.makeFor(own.filter((of) => !isCancellation(of)));
    await finishedTranscription(database, String(possessions.values.transcribed_task_id));
    // Fifty things, one after the other.
  }, WITHIN.timeout);

  it('each operation that reads does', WITHIN, async () => {
    await every(reads, async (of) => {
      const own = await ownAccount(of, under(prefix, http));
      await (own ? succeeds(http, of, own.values, own.body, own.headers) : succeeds(http, of, possessions.of(of)));
    });
  });

  it.each(changes('POST'))('each of /%s that makes or does something does', WITHIN, async (_, all) => {
    await every(
      all,
      async (of) => {
        if (!coverage.missing().includes(of.title)) return;
        const own = await ownAccount(of, under(prefix, http));
        if (own) return succeeds(http, of, own.values, own.body, own.headers);
        // Made late: nothing is quiet while a task is held.
        const at = isCancellation(of) ? await possessions.freshFor(of) : possessions.of(of);
        const mailed = MAILED[of.operation.operationId];
        const body = mailed
          ? { ...mailed.body, token: await mailedToken(http, path.join(dataDir, 'mail'), mailed.cause) }
          : await bodyOfPost(of, under(prefix, http), possessions.values);
        await succeeds(http, of, at, body);
      },
      ONE_AFTER_THE_OTHER,
    );
  });

  it.each(changes('PATCH', 'PUT'))('each of /%s that changes something does', WITHIN, async (_, all) => {
    await every(
      all,
      async (of) => {
        const own = await ownAccount(of, under(prefix, http));
        if (own) return succeeds(http, of, own.values, own.body, own.headers);
        // An upgraded cluster may be too new for Slurm.
        const at = updatesCluster(of) ? await possessions.freshFor(of) : possessions.of(of);
        await succeeds(http, of, at, bodyOfChange(of, possessions.values));
      },
      ONE_AFTER_THE_OTHER,
    );
  });

  it.each(changes('DELETE'))('each of /%s that deletes something does', WITHIN, async (_, all) => {
    await every(
      all,
      async (of) => {
        const body = of.operation.requestBody ? exampleBody(of) : undefined;
        await succeeds(http, of, await possessions.freshFor(of), body);
      },
      ONE_AFTER_THE_OTHER,
    );
  });

  it('notes of each accepted change what it was about', async () => {
    const http = createHttpClient(service.url, TOKEN);
    const unnamed = new Set<string>();
    for (let offset = 0, count = 1; offset < count; offset += 1000) {
      const { body } = await http.get(`/cloud/v1/user_actions?offset=${offset}`);
      count = body.count;
      for (const { resources, is_complete, api_group, action_type } of body.results) {
        const [first] = resources;
        if (!is_complete || !first?.resource_id) unnamed.add(`${api_group} ${action_type}`);
      }
    }
    expect([...unnamed]).toEqual([]);
  });

  it('leaves no documented operation out', () => {
    const unsupported = own.filter(({ operation }) => UNSUPPORTED.includes(operation.operationId));
    expect(coverage.missing().toSorted()).toEqual(unsupported.map(({ title }) => title).toSorted());
  });

  it('has tried out each change before, with the same outcome and without a trace', () => {
    expect(trial.faults()).toEqual([]);
    const changing = own.filter((of) => of.method !== 'GET' && isFirst(of) && !coverage.missing().includes(of.title));
    const open = changing.filter(({ operation }) => operation.security?.length === 0);
    const tried = trial.agreed();
    expect(changing.filter((of) => !tried.has(of.title) && !open.includes(of)).map(({ title }) => title)).toEqual([]);
    expect(trial.lookedFor()).toBeGreaterThan(changing.length / 2);
  });

  it('gets no answer that differs from its documentation', () => {
    expect(coverage.undocumented()).toEqual([]);
  });
}

async function finishedTranscription(database: TestDatabase, id: string): Promise<void> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await finishAiTask(client, id);
  await client.end();
}

const isIn = (area: string, { path }: DocumentedOperation) => path.startsWith(`/${area}/`);
const isCancellation = ({ operation }: DocumentedOperation) => operation.operationId === 'cancelTask';

/** Calls the operation, and waits for the tasks that it starts. */
async function succeeds(
  http: HttpClient,
  of: DocumentedOperation,
  values: Values,
  body?: unknown,
  headers: Record<string, string> = {},
) {
  const target = filledPath(of, values) + requiredQuery(of, values);
  const answer = await http.request(of.method, target, {
    headers,
    ...(body !== undefined && { body }),
  });
  const refused = REFUSED[of.operation.operationId];
  if (refused) {
    expect([answer.status, answer.text]).toEqual([refused.status, expect.stringContaining(refused.because)]);
    return;
  }
  expect(answer.status, answer.text).toBeGreaterThanOrEqual(200);
  expect(answer.status, answer.text).toBeLessThan(300);
  const own = of.method === 'DELETE' && answer.body?.task_id ? [answer.body.task_id] : [];
  for (const id of [...tasksIn(answer.body), ...own]) {
    expect(await http.task(id)).toMatchObject({ state: 'FINISHED', error: null });
  }
}

/** Does what a mail is about. Returns how its token begins. */
type Cause = (http: HttpClient) => Promise<string>;

async function forget(http: HttpClient): Promise<string> {
  const { email, userId } = await newPerson(http);
  expect((await http.post('/iam/auth/password/forgot', { email })).status).toBe(200);
  return `reset_${userId}_`;
}

async function leave(http: HttpClient): Promise<string> {
  const { clientId, http: own } = await newPerson(http);
  expect((await own.post('/tradewind/v1/deletion_request', {})).status).toBe(201);
  return `deletion_${clientId}_`;
}

async function subscribe(http: HttpClient): Promise<string> {
  const setting = { notification_type: 'deletion_request', email: anyEmail() };
  const { body } = await http.post('/iam/reselling/resellers/1/notification_settings', setting);
  await leave(http);
  return `subscription_${body.id}_`;
}

/** Operations that take a token that came by mail, with what else they take. */
const MAILED: Readonly<Record<string, { cause: Cause; body?: object }>> = {
  setForgottenPassword: { cause: forget, body: { password: PASSWORD } },
  readMailedLink: { cause: forget },
  confirmDeletionRequest: { cause: leave },
  changeMailSubscription: { cause: subscribe, body: { enabled: false } },
};

/** Returns the token of a mail, which waits in the folder. */
async function mailedToken(http: HttpClient, folder: string, cause: Cause): Promise<string> {
  const beginning = await cause(http);
  return vi.waitFor(() => {
    const texts = fs.readdirSync(folder).map((name) => fs.readFileSync(path.join(folder, name), 'latin1'));
    // Long lines are broken, and equals signs are written as numbers.
    const [token] = new RegExp(`${beginning}[0-9a-f]{64}`).exec(texts.join('\n').replace(/=\r?\n/g, '')) ?? [];
    expect(token).toBeDefined();
    return token ?? '';
  }, SOON);
}

/** Returns a client for a base address: the same paths with its prefix. */
function under(prefix: string, http: HttpClient): HttpClient {
  return {
    ...http,
    get: (at) => http.get(prefix + at),
    post: (at, body) => http.post(prefix + at, body),
  };
}
