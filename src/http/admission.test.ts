import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../../test/support/service.ts';
import { limitStrangers } from './admission.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ TRADEWIND_RATE_LIMIT: '30', TRADEWIND_TRUST_PROXY: '127.0.0.1' });
});
afterAll(() => service.stop());

it('says with every answer where the token stands', async () => {
  const tenant = await service.otherTenant();
  const first = await tenant.http.get('/cloud/v1/regions');
  expect(first.headers.get('ratelimit-policy')).toBe('"token";q=30;w=10');
  const left = (headers: Headers) => Number(/r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]);
  const second = await tenant.http.get('/cloud/v1/regions');
  expect(left(second.headers)).toBe(left(first.headers) - 1);
});

it('refuses the requests of a token that are too many, and only those', async () => {
  const tenant = await service.otherTenant();
  const answers = [];
  for (let n = 0; n < 35; n++) answers.push(await tenant.http.get('/cloud/v1/regions'));
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused.length).toBeGreaterThanOrEqual(5);
  const [one] = refused;
  expect(one?.body).toMatchObject({ exception_class: 'TooManyRequestsError' });
  expect(Number(one?.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  expect(one?.headers.get('ratelimit')).toMatch(/^"token";r=0;t=\d+$/);

  const write = await tenant.http.post('/cloud/v1/projects', { name: 'one too many' });
  expect(write.status).toBe(429);
  const { text } = await service.anonymous.get('/metrics');
  const counted = /^tradewind_rate_limited_total\{by="token"\} (\d+)$/m.exec(text)?.[1];
  expect(Number(counted)).toBe(refused.length + 1);
  const other = await service.otherTenant();
  expect((await other.http.get('/cloud/v1/regions')).status).toBe(200);
});

it('does not count the polling of tasks', async () => {
  const tenant = await service.otherTenant();
  const disk = { name: 'disk', size: 1, source: 'new-volume' };
  const made = await tenant.http.post(`/cloud/v1/volumes/${tenant.projectId}/1`, disk);
  const polls = await Promise.all(Array.from({ length: 60 }, () => tenant.http.get(`/v1/tasks/${made.body[0]}`)));
  expect(polls.map(({ status }) => status)).toEqual(Array(60).fill(200));
  expect(polls[0]?.headers.get('ratelimit')).toBeNull();
});

describe('whoever shows no token', () => {
  /** Sends up to `most` requests. Returns the number of the first that is refused for the rate limit. */
  const tooMany = async (send: (n: number) => Promise<{ status: number }>, most = 35) => {
    for (let n = 0; n < most; n++) if ((await send(n)).status === 429) return n;
    return undefined;
  };
  const from = (address: string) => ({ 'x-forwarded-for': address });

  it.each([
    ['asks without one', '198.51.100.1', 'GET', '/cloud/v1/projects', {}],
    ['shows unknown ones', '198.51.100.2', 'GET', '/cloud/v1/projects', { authorization: 'apikey 99999_x' }],
    ['tries paths', '198.51.100.3', 'GET', '/nothing', {}],
    ['reads what is open', '198.51.100.4', 'GET', '/docs', {}],
    ['logs in', '198.51.100.5', 'POST', '/iam/auth/jwt/refresh', {}],
  ])('and %s is stopped by address', async (_, address, method, path, headers) => {
    const send = (sender: string) =>
      service.anonymous.request(method, path, { headers: { ...headers, ...from(sender) } });
    expect(await tooMany(() => send(address))).toBe(30);
    const refused = await send(address);
    expect(refused.text).toMatch(/More than 30 requests without a valid token came from this address/);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect((await send('198.51.100.99')).status).not.toBe(429);
  });

  it('is one sender with all of an IPv6 network', async () => {
    const send = (n: number) =>
      service.anonymous.request('GET', '/nothing', { headers: from(`2001:db8::${n.toString(16)}`) });
    expect(await tooMany(send)).toBe(30);
    const other = await service.anonymous.request('GET', '/nothing', { headers: from('2001:db8:0:1::1') });
    expect(other.status).toBe(404);
  });

  it('stops nobody behind the same address whose token is known, and no probe', async () => {
    const { http, projectId } = await service.otherTenant();
    const headers = from('198.51.100.6');
    const path = `/cloud/v1/projects/${projectId}`;
    expect(await tooMany(() => service.anonymous.request('GET', '/nothing', { headers }))).toBe(30);
    // It is unknown for a moment when the news of its account arrive.
    const known = async () => {
      await http.get(path);
      return (await http.request('GET', path, { headers })).status;
    };
    await expect.poll(known, { interval: 500 }).toBe(200);
    expect(await tooMany(() => service.anonymous.request('GET', '/healthz', { headers }))).toBeUndefined();
    const unknown = { ...headers, authorization: 'apikey 88888_x' };
    expect((await service.anonymous.request('GET', path, { headers: unknown })).status).toBe(429);
  });
});

describe('tokens that are not known yet', () => {
  /** Makes `many` requests. Returns the largest number that was looked up at the same time. */
  async function together(limit: number, addressOf: (n: number) => string, many = 50) {
    const strangers = limitStrangers(limit);
    let [now, most, asked] = [0, 0, 0];
    const ask = async () => {
      asked++;
      most = Math.max(most, ++now);
      await new Promise(setImmediate);
      now--;
    };
    const one = async (address: string) => {
      await strangers.admit(address, ask);
      await strangers.count(address);
    };
    await Promise.allSettled(Array.from({ length: many }, (_, n) => one(addressOf(n))));
    return { most, asked };
  }

  it.each([0, 1_000])('are asked about a few at once for each network (limit %i)', async (limit) => {
    expect(await together(limit, (n) => `2001:db8::${n}`)).toEqual({ most: 4, asked: 50 });
    expect((await together(limit, (n) => `198.51.100.${n}`)).most).toBe(50);
  });

  it('count before the next is asked about', async () => {
    expect((await together(10, () => '198.51.100.1')).asked).toBeLessThanOrEqual(10 + 4);
  });
});
