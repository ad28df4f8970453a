import http from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newPerson, PASSWORD } from '../../../../test/support/logins.ts';
import { codeAt } from '../../../../test/support/second-factors.ts';
import { borrowService, type TestService } from '../../../../test/support/service.ts';
import { openDatabase, type PlainDatabase } from '../../../db/database.ts';
import { makeConsoleCode } from './service.ts';

const BASE = '/iam/auth/console';

let service: TestService;
let database: PlainDatabase;
beforeAll(async () => {
  service = await borrowService();
  const { connectionString } = service.pool.options;
  database = openDatabase({ connectionString }, 2);
});
afterAll(async () => {
  await database?.close();
  await service?.stop();
});

interface Answer {
  status: number;
  text: string;
  access: string;
  /** The cookie, without its attributes; undefined if none was set. */
  cookie: string | undefined;
  attributes: string;
}

/** Sends what a browser would: `fetch` chooses some of these headers itself. */
async function send(path: string, body: object, headers: Record<string, string | undefined> = {}): Promise<Answer> {
  const own = { origin: service.url, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' };
  const given = Object.entries({ ...own, ...headers }).filter((one): one is [string, string] => one[1] !== undefined);
  const request = http.request(`${service.url}${BASE}/${path}`, { method: 'POST', headers: Object.fromEntries(given) });
  return new Promise((resolve, reject) => {
    request.on('error', reject).on('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => {
        const [cookie, ...attributes] = response.headers['set-cookie']?.[0]?.split('; ') ?? [];
        const { access = '' } = text.startsWith('{') ? JSON.parse(text) : {};
        resolve({ status: response.statusCode ?? 0, text, access, cookie, attributes: attributes.sort().join('; ') });
      });
    });
    request.end(JSON.stringify(body));
  });
}

const code = async () => (await makeConsoleCode({ database })) ?? '';
const me = async (access: string) =>
  service.anonymous.request('GET', '/iam/clients/me', { headers: { authorization: `Bearer ${access}` } });

describe('a code', () => {
  it('signs the platform administrator in, once', async () => {
    const given = await code();
    const first = await send('exchange', { code: given });
    expect([first.status, first.attributes]).toEqual([
      200,
      'HttpOnly; Max-Age=86400; Path=/iam/auth/console; SameSite=Strict',
    ]);
    expect(first.cookie).toMatch(new RegExp(`^tw_${new URL(service.url).port}=`));
    expect((await me(first.access)).body).toMatchObject({ currentUser: 1 });
    const { body } = await service.http.get('/iam/activity_log/logins?limit=1');
    expect(JSON.stringify(body)).toContain('127.0.0.1');
    const second = await send('exchange', { code: given });
    expect([second.status, second.cookie]).toEqual([400, undefined]);
    expect(second.text).toContain('npx tradewind console');
  });

  it('is worthless after ten minutes, and a guess is worthless at once', async () => {
    const given = await code();
    await service.pool.query(`update console_codes set expires_at = now() - interval '1 second'`);
    expect((await send('exchange', { code: given })).status).toBe(400);
    expect((await send('exchange', { code: 'AAAAAAAAAAAAAAAAAAAAAA' })).status).toBe(400);
    await code();
    expect((await service.pool.query('select from console_codes')).rowCount).toBe(1);
  });

  it('works whatever time a test has set: the command that makes it knows nothing of that', async () => {
    const day = 86_400;
    await service.http.post('/tradewind/v1/test/clock', { advance_s: day });
    const answer = await send('exchange', { code: await code() });
    await service.http.post('/tradewind/v1/test/clock', { advance_s: -day });
    expect(answer.status, answer.text).toBe(200);
  });

  it('works once if it is used twice at the same time', async () => {
    const given = await code();
    const both = await Promise.all([send('exchange', { code: given }), send('exchange', { code: given })]);
    expect(both.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([200, 400]);
  });

  it('lets the administrator add the second factor that the account requires, and asks for none later', async () => {
    const policy = '/tradewind/v1/clients/1/sign_in_policy';
    const SECOND = '/tradewind/v1/logins/second_factor';
    await service.http.put(policy, { second_factor: 'required' });
    const given = await code();
    const asked = await send('exchange', { code: given });
    expect([asked.status, asked.cookie]).toEqual([401, undefined]);
    const { challenge, enrol, message } = JSON.parse(asked.text);
    expect([enrol, message]).toEqual([true, 'The account requires a second factor; add one']);
    expect((await send('exchange', { code: given })).status).toBe(400);
    const { body: app } = await service.anonymous.post(`${SECOND}/enrol`, { challenge });
    const entered = await send('second_factor', { challenge, code: codeAt(app.uri, Date.now()) });
    expect(entered.status, entered.text).toBe(200);
    const again = await send('exchange', { code: await code() });
    for (const { cookie } of [entered, again]) expect((await send('refresh', {}, { cookie })).status).toBe(200);
    await service.http.put(policy, { second_factor: 'optional' });
    await service.pool.query('delete from second_factors');
  });
});

it('a password signs in, and the cookie gets the next access token until the login ends', async () => {
  const person = await newPerson(service.http);
  expect((await send('login', { username: person.email, password: 'wrong' })).status).toBe(400);
  const signedIn = await send('login', { username: person.email, password: PASSWORD });
  const { cookie = '' } = signedIn;
  const next = await send('refresh', {}, { cookie: `other=1; ${cookie}` });
  expect([next.status, (await me(next.access)).body.currentUser]).toEqual([200, person.userId]);
  // Its answer may have been lost.
  expect((await send('refresh', {}, { cookie })).status).toBe(200);
  expect((await send('refresh', {})).status).toBe(401);
  const left = await send('logout', {}, { cookie: next.cookie });
  expect([left.status, left.cookie]).toEqual([204, cookie.replace(/=.*/, '=')]);
  expect((await me(next.access)).status).toBe(401);
  expect((await send('refresh', {}, { cookie: next.cookie })).status).toBe(401);
});

it('an API token makes a login with no more rights', async () => {
  const users = await service.withRole('Users');
  const { status, access } = await send('exchange', { token: users.token ?? '' });
  expect(status).toBe(200);
  const made = await service.anonymous.request('POST', '/cloud/v1/securitygroups/1/1', {
    headers: { authorization: `Bearer ${access}` },
    body: { security_group: { name: 'not mine' } },
  });
  expect(made.status).toBe(403);
  expect((await send('exchange', { token: '1_00000000' })).status).toBe(401);
});

it.each([
  ['a page of another port', { origin: 'http://127.0.0.1:1', 'sec-fetch-site': 'same-site' }],
  ['another site', { origin: 'https://example.com', 'sec-fetch-site': 'cross-site' }],
  ['a foreign host', { host: 'example.com' }],
  ['a browser that says no more than the origin', { origin: 'http://127.0.0.1:1', 'sec-fetch-site': undefined }],
  ['who says nothing', { origin: undefined, 'sec-fetch-site': undefined }],
])('refuses %s', async (_who, headers) => {
  const { cookie = '' } = await send('exchange', { code: await code() });
  for (const path of ['exchange', 'login', 'refresh', 'logout']) {
    const answer = await send(path, { code: 'x' }, { ...headers, cookie });
    expect([answer.status, answer.cookie], path).toEqual([403, undefined]);
  }
  expect((await send('refresh', {}, { cookie })).status).toBe(200);
});

it('no operation of the API reads the cookie', async () => {
  const { cookie = '' } = await send('exchange', { code: await code() });
  const { status } = await service.anonymous.request('GET', '/iam/clients/me', { headers: { cookie } });
  expect(status).toBe(401);
});
