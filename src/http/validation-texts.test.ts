import { afterAll, beforeAll, expect, it } from 'vitest';
import { borrowService, type TestService } from '../../test/support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await borrowService();
});
afterAll(() => service.stop());

const GROUPS = '/cloud/v1/securitygroups/1/1';
const PRICE = '/cloud/v1/pricing/1/1/volumes';

it.each<[string, 'GET' | 'POST', string, object | undefined, object]>([
  [
    'a slip in a query',
    'GET',
    `${GROUPS}?limt=1`,
    undefined,
    { limt: ['Unknown query parameter. Did you mean limit?'] },
  ],
  ['no name like it', 'GET', `${GROUPS}?colour=1`, undefined, { colour: ['Unknown query parameter.'] }],
  ['a query without any', 'GET', `${GROUPS}/x?limit=1`, undefined, { limit: ['Unknown query parameter.'] }],
  ['a number twice', 'GET', `${GROUPS}?limit=1&limit=2`, undefined, { limit: ['Send it only once.'] }],
  [
    'a bad boolean',
    'GET',
    '/cloud/v1/regions?show_volume_types=yes',
    undefined,
    { show_volume_types: ['Must be true or false.'] },
  ],
  [
    'a slip in a body',
    'POST',
    PRICE,
    { source: 'new-volume', size: 1, type_nmae: 'standard' },
    { type_nmae: ['Unknown field. Did you mean type_name?'] },
  ],
  ['no body', 'POST', GROUPS, undefined, { body: ['Must not be empty; send a JSON object.'] }],
])('says of %s what to send instead', async (_, method, path, body, fields) => {
  const answer = await service.http.request(method, path, body === undefined ? {} : { body });
  expect(answer.status, answer.text).toBe(400);
  expect(answer.body.invalid_fields).toEqual(fields);
});

const ROLE = '/iam/clients/1/client-users/create';
const roleIn = (user_role: unknown) => ({
  username: 'union@example.com',
  password: 'many small green apples',
  user_role,
});

it.each<[string, unknown, object]>([
  ['a slip in the nested form', { user_role: { idd: 1 } }, { 'user_role.user_role.idd': ['Unknown field.'] }],
  ['a slip in the plain form', { id: 'x' }, { 'user_role.id': ['Must be an integer.'] }],
  ['neither form', 5, { user_role: ['Must be an object.'] }],
])('says of %s only what is wrong with that form', async (_, user_role, errors) => {
  const answer = await service.http.post(ROLE, roleIn(user_role));
  expect([answer.status, answer.body.errors]).toEqual([400, errors]);
});

it.each<[string, object, string]>([
  [
    'too many',
    Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`k${n}`, '1'])),
    'Must have at most 64 fields.',
  ],
  ['nameless', { '': '1' }, 'Each name must not be empty.'],
])('says of %s parameters of the autoscaler what to send instead', async (_, autoscaler_config, text) => {
  const answer = await service.http.patch('/cloud/v1/k8s/clusters/1/1/none', { autoscaler_config });
  expect(answer.body.invalid_fields).toEqual({ autoscaler_config: [text] });
});

it('tells the faults of several fields apart in one message', async () => {
  const answer = await service.http.get(`${GROUPS}?limit=0&offset=-1`);
  expect(answer.body.message).toMatch(/^Validation error: limit: .*[^.]; offset: .*\.$/);
});

// Every JavaScript object has these names, so a look-up in `{}` finds them.
const NAMES = ['constructor', 'toString', 'hasOwnProperty', '__proto__'];

it.each(NAMES)('refuses an unknown query parameter named %s by that name', async (name) => {
  const answer = await service.http.get(`/cloud/v1/securitygroups/1/1?${name}=1`);
  expect(answer.status, answer.text).toBe(400);
  expect(Object.entries(answer.body.invalid_fields)).toEqual([[name, ['Unknown query parameter.']]]);
});

it.each(NAMES)('refuses an unknown field named %s', async (name) => {
  const answer = await service.http.request('POST', '/cloud/v1/pricing/1/1/volumes', {
    raw: `{"source":"new-volume","size":1,"${name}":1}`,
  });
  expect(answer.status, answer.text).toBe(400);
});

it.each([
  '/cloud/v1/projects?limit=0',
  '/streaming/ai/tasks?limit=0',
  '/iam/users/0?no=1',
  '/gcore/cloud/v1/projects?limit=0',
])('answers %s in the form of RFC 9457 where that is asked for', async (path) => {
  const answer = await service.http.request('GET', path, {
    headers: { accept: 'application/json, application/problem+json' },
  });
  expect(answer.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
  expect(answer.body).toMatchObject({
    type: 'about:blank',
    status: answer.status,
    detail: expect.any(String),
    request_id: answer.headers.get('x-request-id'),
  });
});

it('names the fields of a request that can not be taken', async () => {
  const answer = await service.http.request('GET', '/cloud/v1/projects?limit=0&colour=red', {
    headers: { accept: 'application/problem+json' },
  });
  expect(answer.body).toMatchObject({
    title: 'Bad Request',
    code: 'invalid',
    errors: expect.arrayContaining([
      { field: 'limit', detail: 'Must be at least 1.' },
      { field: 'colour', detail: 'Unknown query parameter.' },
    ]),
  });
});

it('keeps the body of the area for everybody else', async () => {
  const answer = await service.http.get('/cloud/v1/projects?limit=0');
  expect(answer.headers.get('content-type')).toContain('application/json');
  expect(answer.body.exception_class).toBe('ValidationError');
});
