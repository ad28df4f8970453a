import fs from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createCoverage, createOperationFinder } from '../support/coverage.ts';
import { createDatabase, type TestDatabase } from '../support/databases.ts';
import { createDryRunTrial } from '../support/dry-runs.ts';
import { createHttpClient, type HttpClient } from '../support/http-client.ts';
import { anyEmail, invite, newPerson, PASSWORD } from '../support/logins.ts';
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
import { anyName, clusterBody, createPossessions, HELD, tasksIn } from '../support/possessions.ts';
import { tlsBundle } from '../support/tls-bundles.ts';
import { finishTranscription } from '../support/transcriptions.ts';
import { build, type ServeProcess, serve, temporaryFolder } from './processes.ts';

/** Every operation of both documents succeeds from outside, with a documented answer. */
const TOKEN = '7_acceptance-secret';
const operations = await documentedOperations();
const coverage = createCoverage(operations);
const trial = createDryRunTrial(createOperationFinder(operations), () => pool);
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

describe.each([...new Set(operations.map(({ prefix }) => prefix))])(
  'under the base address "%s/"',
  (prefix) => {
    const own = operations.filter((of) => of.prefix === prefix);
    const titled = (...methods: string[]) =>
      own.filter(({ method }) => methods.includes(method)).map((of) => [of.title, of] as const);
    let http: HttpClient;
    let possessions: ReturnType<typeof createPossessions>;
    beforeAll(async () => {
      http = coverage.recording(trial.trying(createHttpClient(service.url, TOKEN)));
      possessions = createPossessions(under(prefix, http));
      await possessions.makeFor(own.filter((of) => !isCancellation(of)));
      await finishedTranscription(String(possessions.values.transcribed_task_id));
      // Fifty things, one after the other.
    }, 240_000);

    it.each(titled('GET'))('%s reads', async (_, of) => {
      await succeeds(http, of, possessions.of(of));
    });

    it.each(titled('POST'))('%s makes or does', async (_, of) => {
      if (!coverage.missing().includes(of.title)) return;
      await succeeds(
        http,
        of,
        // Made late: nothing is quiet while a task is held.
        isCancellation(of) ? await possessions.freshFor(of) : possessions.of(of),
        await bodyFor(of, under(prefix, http), possessions.values),
      );
    });

    it.each(titled('PATCH', 'PUT'))('%s changes', async (_, of) => {
      const own = await ownAccount(of, under(prefix, http));
      if (own) return succeeds(http, of, own.values, own.body, own.headers);
      // An upgraded cluster may be too new for Slurm.
      const at = updatesCluster(of) ? await possessions.freshFor(of) : possessions.of(of);
      await succeeds(http, of, at, changeFor(of, possessions.values));
    });

    it.each(titled('DELETE'))('%s deletes', async (_, of) => {
      const body = of.operation.requestBody ? exampleBody(of) : undefined;
      await succeeds(http, of, await possessions.freshFor(of), body);
    });
  },
);

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
  const unsupported = operations.filter(({ operation }) => UNSUPPORTED.includes(operation.operationId));
  expect(coverage.missing().toSorted()).toEqual(unsupported.map(({ title }) => title).toSorted());
});

it('has tried out each change before, with the same outcome and without a trace', () => {
  expect(trial.faults()).toEqual([]);
  const changing = operations.filter(
    ({ method, title }) => method !== 'GET' && !coverage.missing().includes(title),
  );
  const open = changing.filter(({ operation }) => operation.security?.length === 0);
  const tried = trial.agreed();
  expect(
    changing.filter((of) => !tried.has(of.title) && !open.includes(of)).map(({ title }) => title),
  ).toEqual([]);
  expect(trial.lookedFor()).toBeGreaterThan(changing.length / 2);
});

it('gets no answer that differs from its documentation', () => {
  expect(coverage.undocumented()).toEqual([]);
});

async function finishedTranscription(id: string): Promise<void> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await finishTranscription(client, id);
  await client.end();
}

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

/** Prepares operations that need the user's own password, and so a logged-in user. */
async function ownAccount(of: DocumentedOperation, http: HttpClient) {
  if (!['changePassword', 'changeEmail'].includes(of.operation.operationId)) return undefined;
  const { userId, pair } = await newPerson(http);
  const example = exampleBody(of) as object;
  const body = 'new_email' in example ? { ...example, new_email: anyEmail() } : example;
  return { values: { userId }, body, headers: { authorization: `Bearer ${pair.access}` } };
}

const updatesCluster = ({ operation }: DocumentedOperation): boolean =>
  operation.operationId.startsWith('updateKubernetesCluster');

/** Returns the documented example of a change; what it refers to exists. */
function changeFor(of: DocumentedOperation, { port_id, file_share_id, ssh_key_id }: Values): unknown {
  if (of.path.endsWith('/connected_devices')) return { port_ids: [port_id] };
  const body = exampleBody(of);
  if (!updatesCluster(of)) return body;
  const { add_ons, ...others } = body as { add_ons: { slurm: object } };
  return { add_ons: { slurm: { ...add_ons.slurm, file_share_id, ssh_key_ids: [ssh_key_id] } }, ...others };
}

/**
 * Returns the documented example with a unique name; what it refers to exists, and an upgrade has a newer
 * version.
 */
async function bodyFor(of: DocumentedOperation, http: HttpClient, values: Values): Promise<unknown> {
  if (of.operation.operationId.startsWith('createKubernetesCluster')) return clusterBody(http);
  if (of.operation.operationId.startsWith('upgradeKubernetesCluster')) {
    const versions = await http.get(`/cloud/v1/k8s/clusters/1/1/${values.cluster_name}/upgrade_versions`);
    return versions.body.results.at(-1);
  }
  if (of.operation.operationId === 'detachInterface') {
    const { body } = await http.get(`/cloud/v1/instances/1/1/${values.instance_id}/interfaces`);
    const { port_id, ip_assignments } = body.results.at(-1);
    return { port_id, ip_address: ip_assignments[0].ip_address };
  }
  const { operationId } = of.operation;
  if (operationId === 'createDdosProfile') {
    const made = await http.post('/cloud/v1/loadbalancers/1/1', { name: anyName() });
    const [id] = (await http.task(tasksIn(made.body)[0] ?? '')).created_resources.loadbalancers;
    const { body } = await http.get(`/cloud/v1/loadbalancers/1/1/${id}`);
    return { ...(exampleBody(of) as object), ip_address: body.vip_address };
  }
  if (operationId === 'createTlsSecret') return { name: anyName(), payload: await tlsBundle() };
  if (operationId === 'acceptInvitation' || operationId === 'renewInvitation') {
    const email = anyEmail();
    const invitation = await invite({ http, clientId: 1 }, email);
    return operationId === 'renewInvitation'
      ? { email }
      : { token: invitation.invitation_token, password: PASSWORD };
  }
  if (operationId === 'setForgottenPassword') return { token: await resetToken(http), password: PASSWORD };
  if (operationId === 'resetPassword') return { email: (await newPerson(http)).email };
  if (operationId === 'createClientUser') return { ...(exampleBody(of) as object), username: anyEmail() };
  if (of.operation.operationId === 'login') {
    return { username: (await newPerson(http)).email, password: PASSWORD };
  }
  if (of.operation.operationId === 'refreshLogin') return { refresh: (await newPerson(http)).pair.refresh };
  const body = exampleBody(of) as { name?: string; email?: string } | undefined;
  if (body === undefined) return undefined;
  if (body.email !== undefined) return { ...body, email: anyEmail() };
  const own = Object.entries(values).filter(([name]) => Object.hasOwn(body, name));
  return { ...body, ...Object.fromEntries(own), ...(body.name !== undefined && { name: anyName() }) };
}

/** Returns the token of a mail, which waits in the folder. */
async function resetToken(http: HttpClient): Promise<string> {
  const { email, userId } = await newPerson(http);
  expect((await http.post('/iam/auth/password/forgot', { email })).status).toBe(200);
  const folder = path.join(dataDir, 'mail');
  return vi.waitFor(
    () => {
      const texts = fs.readdirSync(folder).map((name) => fs.readFileSync(path.join(folder, name), 'latin1'));
      const [token] =
        new RegExp(`reset_${userId}_[0-9a-f]{64}`).exec(
          // Long lines are broken.
          texts.join('\n').replace(/=\r?\n/g, ''),
        ) ?? [];
      expect(token).toBeDefined();
      return token ?? '';
    },
    { timeout: 20_000, interval: 50 },
  );
}

/** Returns a client for a base address: the same paths with its prefix. */
function under(prefix: string, http: HttpClient): HttpClient {
  return {
    ...http,
    get: (at) => http.get(prefix + at),
    post: (at, body) => http.post(prefix + at, body),
  };
}
