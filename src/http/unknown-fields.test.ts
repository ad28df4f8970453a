import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestService } from '../../test/support/service.ts';

const NETWORKS = '/cloud/v1/networks/1/1';
const STRICT = { 'tradewind-strict': 'true' };
const lines: Record<string, unknown>[] = [];
const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });

let service: TestService;
beforeAll(async () => {
  const settings = { TRADEWIND_TEST_API: 'true', TRADEWIND_ACCESS_LOG: 'on' };
  service = await startService({ ...settings, TRADEWIND_LOG_LEVEL: 'info' }, { log });
});
afterAll(() => service.stop());

const make = (body: object, headers = {}, { http } = service) =>
  http.request('POST', `/gcore${NETWORKS}`, { body, headers });
const ignoredIn = ({ headers }: { headers: Headers }) => headers.get('tradewind-ignored');

describe('under /gcore, fields that nobody knows', () => {
  it('are ignored, and named in a header', async () => {
    const answer = await make({ name: 'odd', vm_state: 'active', pools: [{ any: 1 }] });
    expect(answer.status, answer.text).toBe(200);
    expect(ignoredIn(answer)).toBe('vm_state, pools');
    expect(ignoredIn(await make({ name: 'plain' }))).toBeNull();
  });

  it('are named with the field that was meant', async () => {
    const answer = await make({ name: 'misspelt', create_ruoter: false });
    expect(answer.status, answer.text).toBe(200);
    expect(ignoredIn(answer)).toBe('create_ruoter;meant=create_router');
  });

  it('are named by their place, and quoted where a header needs it', async () => {
    const path = '/gcore/cloud/v1/securitygroups/1/1';
    const rule = { direction: 'ingress', protocol: 'tcp', 'port range': 1, 'größe, "': 2 };
    const body = { security_group: { name: 'odd', security_group_rules: [rule] } };
    const answer = await service.http.post(path, body);
    expect(answer.status, answer.text).toBe(200);
    const at = 'security_group.security_group_rules.0';
    expect(ignoredIn(answer)).toBe(`"${at}.port%20range", "${at}.gr%C3%B6%C3%9Fe,%20%22"`);
    expect(answer.body.security_group_rules).toContainEqual(expect.objectContaining({ protocol: 'tcp' }));
  });

  it('are taken out of the form of a union that was meant', async () => {
    const path = '/gcore/cloud/v1/reserved_fixed_ips/1/1';
    const answer = await service.http.post(path, { type: 'external', network_id: 'any', is_vip: false });
    expect(answer.status, answer.text).toBe(200);
    expect(ignoredIn(answer)).toBe('network_id');
  });

  it('are no fields of the other form where a union can mean either', async () => {
    const path = '/gcore/iam/clients/1/client-users/create';
    const user_role = { id: 5, user_role: { id: 5 } };
    const body = { username: 'either@example.com', password: 'Gull-Anchor-47', user_role };
    const answer = await service.http.post(path, body);
    expect([answer.status, ignoredIn(answer)], answer.text).toEqual([400, null]);
  });

  it('are in the line of the log, and in what the test kit keeps', async () => {
    const answer = await make({ name: 'logged', vm_state: 'active' });
    const id = answer.headers.get('x-request-id');
    await expect.poll(() => lines.find(({ reqId }) => reqId === id)).toMatchObject({ ignored: ['vm_state'] });
    const { results } = (await service.http.get('/tradewind/v1/test/requests')).body;
    expect(results.find((one: { id: string }) => one.id === id)).toMatchObject({ ignored: ['vm_state'] });
  });

  it('are only named as wrong beside another fault if they are misspelt', async () => {
    const answer = await make({ create_ruoter: false, vm_state: 'active' });
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('Unknown field. Did you mean create_router?');
    expect(answer.text).not.toContain('vm_state');
    expect(ignoredIn(answer)).toBe('create_ruoter;meant=create_router, vm_state');
  });

  it('count for nothing where a key comes again', async () => {
    const headers = { 'idempotency-key': 'once' };
    const first = await make({ name: 'once', vm_state: 'active' }, headers);
    const second = await make({ name: 'once', vm_state: 'stopped' }, headers);
    expect(second.status, second.text).toBe(200);
    expect(second.body).toEqual(first.body);
  });

  it('are named up to a bound', async () => {
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`field_${n}`, n]));
    const answer = await make({ name: 'many', ...many, [`long_${'x'.repeat(100_000)}`]: 1 });
    expect(answer.status, answer.text).toBe(200);
    expect(ignoredIn(answer)?.split(', ')).toHaveLength(50);
    const long = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`${'長'.repeat(100)}${n}`, n]));
    expect(ignoredIn(await make({ name: 'long', ...long }))?.length).toBeLessThan(2_000);
  });

  it('are refused with Tradewind-Strict', async () => {
    const answer = await make({ name: 'strict', vm_state: 'active' }, STRICT);
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('vm_state');
    expect((await make({ name: 'strict' }, { 'tradewind-strict': 'yes' })).status).toBe(400);
  });

  it('are refused where the contract closes the body, and by what is in no contract', async () => {
    const limits = { description: 'more', requested_limits: { global_limits: {} }, other: 1 };
    for (const [path, body] of [
      ['/gcore/cloud/v2/limits_request', limits],
      ['/gcore/tradewind/v1/webhooks', { url: 'http://hooks.invalid/', other: 1 }],
    ] as const) {
      const answer = await service.http.post(path, body);
      expect(answer.status, answer.text).toBe(400);
      expect(answer.text).toContain('Unknown field');
    }
  });
});

it('unknown fields are refused elsewhere', async () => {
  const answer = await service.http.post(NETWORKS, { name: 'odd', vm_state: 'active' });
  expect(answer.status).toBe(400);
  expect(answer.text).toContain('vm_state');
});

it('unknown fields are refused everywhere with TRADEWIND_STRICT, unless a request says otherwise', async () => {
  const strict = await startService({ TRADEWIND_STRICT: 'true' });
  try {
    const body = { name: 'odd', vm_state: 'active' };
    expect((await make(body, {}, strict)).status).toBe(400);
    expect((await make(body, { 'tradewind-strict': 'false' }, strict)).status).toBe(200);
  } finally {
    await strict.stop();
  }
});
