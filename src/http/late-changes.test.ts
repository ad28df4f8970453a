import { once } from 'node:events';
import http from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createHttpClient, SOON } from '../../test/support/http-client.ts';
import { anyEmail, comes, newPerson, type Person } from '../../test/support/logins.ts';
import { startService, type TestService } from '../../test/support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service?.stop());

interface Caller {
  person: Person;
  tokenId: number;
  authorization: string;
  projectId: number;
}

async function newCaller(): Promise<Caller> {
  const person = await newPerson(service.http);
  const made = await person.http.post(`/iam/v2/clients/${person.clientId}/tokens`, {
    name: 'slow',
    exp_date: null,
    client_user: { role: { id: 1 } },
  });
  expect(made.status, made.text).toBe(200);
  const token = made.body.token as string;
  // From now on, the token is known without a query.
  const projects = await createHttpClient(service.url, token).get('/cloud/v1/projects');
  const [project] = projects.body.results;
  return {
    person,
    tokenId: Number(token.split('_')[0]),
    authorization: `apikey ${token}`,
    projectId: project.id,
  };
}

/** Sends a request whose body ends later, and returns once the server has its head. */
async function begin(
  method: string,
  path: string,
  authorization: string,
  body: object,
  headers: Record<string, string> = {},
) {
  const payload = JSON.stringify(body);
  const request = http.request(service.url + path, {
    method,
    headers: {
      authorization,
      'content-type': 'application/json',
      'content-length': payload.length,
      expect: '100-continue',
      ...headers,
    },
  });
  const answer = once(request, 'response') as Promise<[http.IncomingMessage]>;
  request.flushHeaders();
  await once(request, 'continue');
  request.write(payload.slice(0, 5));
  return async () => {
    request.end(payload.slice(5));
    const [response] = await answer;
    return { status: response.statusCode, text: await text(response) };
  };
}

const LOSSES: [string, number, (caller: Caller) => Promise<{ status: number; text: string }>][] = [
  [
    'its account was suspended',
    401,
    ({ person }) => service.http.post(`/tradewind/v1/clients/${person.clientId}/suspend`),
  ],
  [
    'its token was deleted',
    401,
    ({ person, tokenId }) => service.http.delete(`/iam/v2/clients/${person.clientId}/tokens/${tokenId}`),
  ],
  [
    'its user was left with fewer rights',
    403,
    async ({ person }) => {
      // Somebody has to be its administrator.
      await comes(person, anyEmail(), { id: 1 });
      const path = `/iam/clients/${person.clientId}/client-users/${person.userId}`;
      return service.http.put(path, { user_role: { name: 'Users' } });
    },
  ],
  [
    'its service was switched off',
    403,
    async ({ person }) => {
      const services = `/iam/clients/${person.clientId}/services`;
      const { body } = await service.http.get(services);
      const { id } = body.find(({ name }: { name: string }) => name === 'CLOUD');
      return service.http.put(`${services}/${id}`, { status: 'paused' });
    },
  ],
];

describe('a change is refused and leaves nothing if, before its transaction began,', () => {
  it.each(LOSSES)('%s while its body came', async (_what, status, lose) => {
    const caller = await newCaller();
    const end = await begin('POST', `/cloud/v1/securitygroups/${caller.projectId}/1`, caller.authorization, {
      security_group: { name: 'too-late' },
    });
    const lost = await lose(caller);
    expect(lost.status, lost.text).toBeLessThan(300);
    const answer = await end();
    expect(answer.status, answer.text).toBe(status);
    const { rows } = await service.pool.query(
      `select name from security_groups where project_id = $1 and name = 'too-late'`,
      [caller.projectId],
    );
    expect(rows).toEqual([]);
    // Who tried it is recorded all the same.
    await vi.waitFor(async () => {
      const { rows: recorded } = await service.pool.query(
        `select outcome, status from user_actions where client_id = $1 and operation = 'createSecurityGroup'`,
        [caller.person.clientId],
      );
      expect(recorded).toEqual([{ outcome: 'refused', status }]);
    }, SOON);
  });

  it('its token was deleted, even if it was made before with the same key', async () => {
    const caller = await newCaller();
    const path = `/cloud/v1/securitygroups/${caller.projectId}/1`;
    const body = { security_group: { name: 'once' } };
    const first = await begin('POST', path, caller.authorization, body, { 'idempotency-key': 'a' });
    expect((await first()).status).toBe(200);
    const again = await begin('POST', path, caller.authorization, body, { 'idempotency-key': 'a' });
    const tokens = `/iam/v2/clients/${caller.person.clientId}/tokens`;
    expect((await caller.person.http.delete(`${tokens}/${caller.tokenId}`)).status).toBe(204);
    expect((await again()).status).toBe(401);
  });
});

it('a price is not told, nor anything else, if its token was deleted while its body came', async () => {
  const { person, projectId, authorization, tokenId } = await newCaller();
  const path = `/cloud/v1/pricing/${projectId}/1/volumes`;
  const end = await begin('POST', path, authorization, {
    source: 'new-volume',
    size: 10,
    type_name: 'standard',
  });
  const gone = await service.http.delete(`/iam/v2/clients/${person.clientId}/tokens/${tokenId}`);
  expect(gone.status, gone.text).toBe(204);
  const answer = await end();
  expect(answer.status, answer.text).toBe(401);
});

it('a change is made whose body comes slowly, if nothing was lost', async () => {
  const { projectId, authorization } = await newCaller();
  const path = `/cloud/v1/securitygroups/${projectId}/1`;
  const end = await begin('POST', path, authorization, { security_group: { name: 'in-time' } });
  const answer = await end();
  expect(answer.status, answer.text).toBe(200);
});
