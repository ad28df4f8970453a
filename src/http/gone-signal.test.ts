import { once } from 'node:events';
import http from 'node:http';
import fastify from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHttpClient, type HttpClient } from '../../test/support/http-client.ts';
import { newPerson, type Person } from '../../test/support/logins.ts';
import { startService, type TestService } from '../../test/support/service.ts';
import { ForbiddenError, UnavailableError } from '../lib/errors.ts';
import { goneSignal } from './gone-signal.ts';

let service: TestService;
beforeAll(async () => {
  // So slow that no task ends.
  service = await startService({ TRADEWIND_SIMULATION_SPEED: '0.01' });
});
afterAll(() => service?.stop());

interface Caller {
  person: Person;
  tokenId: number;
  projectId: number;
  http: HttpClient;
}

async function newCaller(): Promise<Caller> {
  const person = await newPerson(service.http);
  const made = await person.http.post(`/iam/v2/clients/${person.clientId}/tokens`, {
    name: 'waiting',
    exp_date: null,
    client_user: { role: { id: 1 } },
  });
  expect(made.status, made.text).toBe(200);
  const own = createHttpClient(service.url, made.body.token);
  const [project] = (await own.get('/cloud/v1/projects')).body.results;
  return { person, tokenId: Number(made.body.token.split('_')[0]), projectId: project.id, http: own };
}

const deleteToken = ({ person, tokenId }: Caller) =>
  person.http.delete(`/iam/v2/clients/${person.clientId}/tokens/${tokenId}`);

const REVOCATIONS: [string, number, (caller: Caller) => Promise<{ status: number; text: string }>][] = [
  ['whose token was deleted', 401, deleteToken],
  [
    'whose account was suspended',
    401,
    ({ person }) => service.http.post(`/tradewind/v1/clients/${person.clientId}/suspend`),
  ],
];

const makeVolume = async ({ http: own, projectId }: Caller, name: string): Promise<string> => {
  const made = await own.post(`/cloud/v1/volumes/${projectId}/1`, { name, size: 1, source: 'new-volume' });
  expect(made.status, made.text).toBe(200);
  return made.body[0];
};

/** Takes from the caller what lets it in, while it waits. */
async function revokeWith(revoke: (typeof REVOCATIONS)[number][2], caller: Caller): Promise<void> {
  for (let n = 0; n < 20; n++) await service.http.get('/healthz');
  const revoked = await revoke(caller);
  expect(revoked.status, revoked.text).toBeLessThan(300);
}

describe.each(REVOCATIONS)('a caller %s', (_, status, revoke) => {
  it('is told of no events by a list that waits, which ends', async () => {
    const caller = await newCaller();
    const { cursor } = (await caller.http.get('/tradewind/v1/events')).body;
    const waiting = caller.http.get(`/tradewind/v1/events?cursor=${cursor}&wait=60&type=tradewind.volume.*`);
    await revokeWith(revoke, caller);
    expect((await waiting).status).toBe(status);
  });

  it('is told of no event that ends the wait', async () => {
    const caller = await newCaller();
    const { cursor } = (await caller.http.get('/tradewind/v1/events')).body;
    const waiting = caller.http.get(`/tradewind/v1/events?cursor=${cursor}&wait=60&type=tradewind.security_group.*`);
    await revokeWith(revoke, caller);
    await service.http.post(`/cloud/v1/securitygroups/${caller.projectId}/1`, {
      security_group: { name: 'a secret name' },
    });
    const answer = await waiting;
    expect(answer.status, answer.text).toBe(status);
    expect(answer.text).not.toContain('a secret name');
  });

  it('learns nothing of a task by Prefer: wait', async () => {
    const caller = await newCaller();
    const task = await makeVolume(caller, 'a secret name');
    const waiting = caller.http.request('GET', `/v1/tasks/${task}`, { headers: { prefer: 'wait=60' } });
    await revokeWith(revoke, caller);
    const answer = await waiting;
    expect(answer.status, answer.text).toBe(status);
  });
});

it('a change that waits for its task tells nothing to a caller whose token was deleted, and stays made', async () => {
  const caller = await newCaller();
  await makeVolume(caller, 'retyped');
  const { rows } = await service.pool.query(
    `update volumes set status = 'available', task_id = null where project_id = $1 returning id`,
    [caller.projectId],
  );
  const path = `/cloud/v1/volumes/${caller.projectId}/1/${rows[0].id}/retype`;
  const waiting = caller.http.post(path, { volume_type: 'ssd_hiiops' });
  await expect
    .poll(async () => {
      const query = `select count(*)::integer as begun from tasks where project_id = $1 and task_type = 'retype_volume'`;
      return (await service.pool.query(query, [caller.projectId])).rows[0].begun;
    })
    .toBe(1);
  await revokeWith(deleteToken, caller);
  expect((await waiting).status).toBe(401);
});

it('an export is cut off, not ended, when the token of its reader is deleted', async () => {
  const caller = await newCaller();
  await caller.http.post(`/cloud/v1/securitygroups/${caller.projectId}/1`, {
    security_group: { name: 'exported' },
  });
  await service.pool.query(
    `insert into user_actions (id, client_id, user_id, request_id, operation, method, path, source_user_ip, outcome, status, "timestamp")
     select next_user_action_id(), client_id, user_id, request_id, operation, method, repeat('x', 500), source_user_ip, outcome, status, "timestamp"
     from (select * from user_actions where client_id = $1 limit 1) as one, generate_series(1, 40000)`,
    [caller.person.clientId],
  );
  const asked = http.get(`${service.url}/tradewind/v1/audit`, {
    headers: { authorization: `apikey ${caller.http.token}`, accept: 'application/x-ndjson' },
  });
  const [answer] = (await once(asked, 'response')) as [http.IncomingMessage];
  expect(answer.statusCode).toBe(200);
  let received = 0;
  answer.once('data', () => answer.pause());
  await once(answer, 'pause');
  await revokeWith(deleteToken, caller);
  await expect.poll(async () => (await caller.http.get('/cloud/v1/projects')).status).toBe(401);
  // Longer than a check of the reader holds.
  const checked = Date.now() + 3_000;
  await expect.poll(() => Date.now() > checked).toBe(true);
  answer.on('data', (chunk: Buffer) => {
    received += chunk.length;
  });
  answer.resume();
  const end = await new Promise((resolve) => {
    answer.once('end', () => resolve('ended'));
    answer.once('error', () => resolve('cut off'));
  });
  expect(end).toBe('cut off');
  expect(received).toBeLessThan(40_000 * 500);
});

it('a reply is checked once at a time, and ends for lost rights but not for a database that does not answer', async () => {
  const app = fastify();
  let answer = (_: Error) => {};
  let asked = 0;
  app.decorateRequest('waits', false);
  app.decorate('stillAdmitted', async () => {
    asked++;
    throw await new Promise<Error>((resolve) => {
      answer = resolve;
    });
  });
  let gone: AbortSignal | undefined;
  app.get('/', async (_, reply) => {
    gone = goneSignal(reply);
    expect(goneSignal(reply)).toBe(gone);
    await once(gone, 'abort');
    return reply.code(403).send({});
  });
  const waiting = fetch(await app.listen());
  await expect.poll(() => asked).toBe(1);
  // Longer than two checks are apart.
  const later = Date.now() + 2_500;
  await expect.poll(() => Date.now() > later).toBe(true);
  expect(asked).toBe(1);
  answer(new UnavailableError('The database does not answer'));
  await expect.poll(() => asked).toBe(2);
  expect(gone?.aborted).toBe(false);
  answer(new ForbiddenError('No longer'));
  expect((await waiting).status).toBe(403);
  await app.close();
});
