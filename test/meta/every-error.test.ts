import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import * as errors from '../../src/lib/errors.ts';
import type { Answer } from '../support/http-client.ts';
import { newPerson, PASSWORD } from '../support/logins.ts';
import { addApp } from '../support/second-factors.ts';
import { startService, type TestService } from '../support/service.ts';

const GROUPS = '/cloud/v1/securitygroups/1/1';
const AI_TASKS = '/streaming/ai/tasks';
const group = (name: string) => ({ security_group: { name } });
const transcription = { task_name: 'transcription', url: 'https://media.example.com/a.mp4' };

let service: TestService;
beforeAll(async () => {
  service = await startService({ TRADEWIND_LOG_LEVEL: 'silent' });
});
afterAll(() => service.stop());

interface Case {
  status: number;
  body: object;
  provoke(): Promise<Answer>;
}

/** Each domain error, raised over HTTP. */
const cases: Record<string, Case[]> = {
  InvalidError: [
    {
      status: 400,
      body: {
        exception_class: 'ValidationError',
        invalid_fields: { 'security_group.name': expect.any(Array) },
      },
      provoke: () => service.http.post(GROUPS, group('x')),
    },
    {
      status: 400,
      body: { errors: { email: expect.any(Array) } },
      provoke: () =>
        service.http.post('/iam/reselling/resellers/1/notification_settings', {
          notification_type: 'failed_login',
          email: 'nobody',
        }),
    },
    {
      status: 400,
      body: { error: expect.stringContaining('url') },
      provoke: () => service.http.post(AI_TASKS, {}),
    },
  ],
  SecondFactorNeededError: [
    {
      status: 401,
      body: { challenge: expect.any(String), factors: expect.arrayContaining(['totp', 'recovery_code']), enrol: false },
      async provoke() {
        const person = await newPerson(service.http);
        await addApp(person);
        return service.anonymous.post('/iam/auth/jwt/login', { username: person.email, password: PASSWORD });
      },
    },
  ],
  UnauthenticatedError: [
    {
      status: 401,
      body: {
        exception_class: 'not_authenticated',
        message: 'Authentication credentials were not provided.',
      },
      provoke: () => service.anonymous.get(GROUPS),
    },
    {
      status: 401,
      body: { exception_class: 'token_not_valid', message: 'Token is invalid or expired' },
      provoke: () => service.anonymous.request('GET', GROUPS, { headers: { authorization: 'apikey 1_wrong' } }),
    },
    {
      status: 401,
      body: { exception_class: 'token_not_valid', message: 'Given token not valid for any token type' },
      provoke: () =>
        service.anonymous.request('GET', GROUPS, {
          headers: { authorization: `Bearer ${service.http.token}` },
        }),
    },
    {
      status: 401,
      body: { code: 401, message: expect.any(String) },
      provoke: () => service.anonymous.get('/cloud/v1/laas/1/destination_regions'),
    },
  ],
  ForbiddenError: [
    {
      status: 403,
      body: { exception_class: 'ForbiddenError' },
      provoke: async () => (await service.withRole('Users')).post(GROUPS, group('reader')),
    },
  ],
  ProductInUseError: [
    {
      status: 403,
      body: { message: expect.any(String), trial: [], activating: [], active: ['CLOUD'] },
      provoke: () =>
        service.http.patch('/iam/products/availability/clients/1', {
          product_name: 'CLOUD',
          available: false,
        }),
    },
  ],
  NotFoundError: [
    {
      status: 404,
      body: { exception_class: 'NotFoundError', message: 'Project 999 not found' },
      provoke: () => service.http.get('/cloud/v1/projects/999'),
    },
    {
      status: 404,
      body: { status: 404, error: expect.any(String) },
      provoke: () => service.http.get(`${AI_TASKS}/${randomUUID()}`),
    },
  ],
  ConflictError: [
    {
      status: 409,
      body: { exception_class: 'ConflictError' },
      async provoke() {
        await service.http.post(GROUPS, group('twice'));
        return service.http.post(GROUPS, group('twice'));
      },
    },
  ],
  QuotaExceededError: [
    {
      status: 403,
      body: {
        exception_class: 'QuotaLimitExceed',
        info: { attribute: 'firewall_count', current_usage: 10_000, requested_usage: 1, limit: 10_000 },
      },
      async provoke() {
        await service.http.post(GROUPS, group('before the limit'));
        await service.pool.query(
          `update quota_usage set used = 10000 where client_id = 1 and attribute = 'firewall_count'`,
        );
        return service.http.post(GROUPS, group('one too many'));
      },
    },
  ],
  PreconditionFailedError: [
    {
      status: 412,
      body: { error: expect.stringContaining('REVOKED') },
      async provoke() {
        const { body } = await service.http.post(AI_TASKS, transcription);
        await service.http.post(`${AI_TASKS}/${body.task_id}/cancel`);
        return service.http.post(`${AI_TASKS}/${body.task_id}/cancel`);
      },
    },
  ],
  FeatureMissingError: [
    {
      status: 422,
      body: { error: expect.stringContaining('"Speech transcription"') },
      async provoke() {
        const tenant = await service.otherTenant();
        return tenant.http.post(AI_TASKS, transcription);
      },
    },
  ],
  QueueFullError: [
    {
      status: 400,
      body: { error: expect.stringMatching(/Queue limit reached .*100/) },
      async provoke() {
        await Promise.all(Array.from({ length: 100 }, () => service.http.post(AI_TASKS, transcription)));
        return service.http.post(AI_TASKS, transcription);
      },
    },
  ],
  UnprocessableError: [
    {
      status: 422,
      body: { error: expect.stringMatching(/No engine installed here can do sport/) },
      provoke: () =>
        service.http.post(AI_TASKS, {
          task_name: 'content-moderation',
          category: 'sport',
          url: 'https://media.example.com/a.mp4',
        }),
    },
    {
      status: 422,
      body: { exception_class: 'UnprocessableError', message: expect.stringContaining('use a new key') },
      async provoke() {
        const headers = { 'idempotency-key': randomUUID() };
        await service.http.request('POST', '/cloud/v1/projects', { body: { name: 'keyed once' }, headers });
        return service.http.request('POST', '/cloud/v1/projects', { body: { name: 'keyed twice' }, headers });
      },
    },
  ],
  TooManyRequestsError: [
    {
      status: 429,
      body: { message: expect.stringMatching(/try again|wait/i) },
      async provoke() {
        const guess = { username: 'nobody@example.com', password: 'wrong' };
        for (let n = 0; n < 10; n++) {
          const answer = await service.anonymous.post('/iam/auth/jwt/login', guess);
          if (answer.status === 429) return answer;
        }
        throw new Error('Ten wrong passwords were all looked at');
      },
    },
  ],
  UnavailableError: [
    {
      status: 503,
      body: { exception_class: 'UnavailableError', message: expect.stringContaining('try again') },
      async provoke() {
        const holder = await service.pool.connect();
        try {
          await holder.query('begin; lock table security_groups');
          const answer = service.http.get(GROUPS);
          await vi.waitUntil(async () => {
            // The same as the server does to a statement that exceeds its time limit.
            const { rowCount } = await service.pool.query(
              `select pg_cancel_backend(pid) from pg_stat_activity
               where datname = current_database() and wait_event_type = 'Lock'`,
            );
            return rowCount !== 0;
          });
          return await answer;
        } finally {
          await holder.query('rollback');
          holder.release();
        }
      },
    },
  ],
};

it('has a case for each domain error', () => {
  const domainErrors = Object.entries(errors).filter(
    ([name, value]) =>
      value.prototype instanceof errors.DomainError &&
      name !== 'DomainError' &&
      // They are ConflictErrors for clients.
      !(value.prototype instanceof errors.ConflictError && Object.hasOwn(value.prototype, 'name')),
  );
  expect(Object.keys(cases).sort()).toEqual(domainErrors.map(([name]) => name).sort());
});

it.each(Object.entries(cases).flatMap(([name, list]) => list.map((one) => [name, one.status, one] as const)))(
  '%s is %i over HTTP, and says what to do',
  async (_name, status, { body, provoke }) => {
    const answer = await provoke();
    expect(answer.status, answer.text).toBe(status);
    expect(answer.body).toMatchObject(body);
    if ('exception_class' in answer.body) expect(answer.body.request_id).toBe(answer.headers.get('x-request-id'));
  },
);

it('a fault of the server is 500, and tells nothing of its inside', async () => {
  await service.pool.query('alter table security_groups rename to broken');
  const answer = await service.http.get(GROUPS);
  await service.pool.query('alter table broken rename to security_groups');
  expect(answer.status).toBe(500);
  expect(answer.body).toMatchObject({ exception_class: 'HTTPError', request_id: expect.any(String) });
  expect(answer.text).not.toMatch(/security_groups|relation|select|src\//);
  expect((await service.http.get(GROUPS)).status).toBe(200);
});
