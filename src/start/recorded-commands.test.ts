import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { changedCatalog } from '../../test/support/catalogs.ts';
import { logIn, newPerson } from '../../test/support/logins.ts';
import { startCloud, type TestCloud } from '../../test/support/openstack.ts';
import { refuseRecordsOfCommands } from '../../test/support/records.ts';
import { ENCRYPTION_KEY } from '../../test/support/secrets.ts';
import { startService, type Tenant, type TestService } from '../../test/support/service.ts';
import { loadConfig } from '../config.ts';
import type { AuditRecord } from '../tradewind/audit/schema.ts';
import { commands } from './commands.ts';

const clouds = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-clouds-')), 'clouds.yaml');
let service: TestService;
let tenant: Tenant;
let cloud: TestCloud;
beforeAll(async () => {
  cloud = await startCloud();
  fs.writeFileSync(clouds, cloud.clouds, { mode: 0o600 });
  service = await startService();
  tenant = await service.otherTenant();
});
afterAll(async () => {
  cloud.stop();
  fs.rmSync(path.dirname(clouds), { recursive: true });
  await service.stop();
});

/** Returns the exit code and what the command prints. */
async function run(name: string, options: Record<string, string | boolean> = {}, more: object = {}) {
  const config = loadConfig({
    DATABASE_URL: service.pool.options.connectionString ?? '',
    TRADEWIND_DATA_DIR: path.join(os.tmpdir(), 'unused'),
    TRADEWIND_ENCRYPTION_KEY: ENCRYPTION_KEY,
    TRADEWIND_LOG_LEVEL: 'silent',
    ...more,
  });
  const print = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  try {
    const code = await commands[name]?.run({ config, options, stop: new AbortController().signal });
    return { code, text: print.mock.calls.map(([text]) => text).join('') };
  } finally {
    print.mockRestore();
  }
}

it('are in the audit log of the account that they concern, and told as events', async () => {
  const { cursor } = (await service.http.get('/tradewind/v1/events')).body;
  const client = String(tenant.clientId);
  for (const name of ['client pause', 'client resume']) {
    expect((await run(name, { client })).code).toBe(0);
  }
  const made = await run('token create', { client, name: 'by hand', role: 'Users' });
  const id = made.text.split(/[_$]/)[0];
  // What is refused changes nothing.
  expect((await run('client pause', { client: '99999' })).code).toBe(1);

  const { events } = (await service.http.get(`/tradewind/v1/events?cursor=${cursor}&wait=20&limit=3`)).body;
  const told = [
    ['tradewind.client.paused', `client/${client}`],
    ['tradewind.client.resumed', `client/${client}`],
    ['tradewind.token.created', `token/${id}`],
  ];
  expect(events.map(({ type, subject }: Record<string, string>) => [type, subject])).toEqual(told);
  const { records } = (await tenant.http.get('/tradewind/v1/audit?limit=3')).body;
  expect(records.toReversed()).toMatchObject(
    told.map(([type, subject]) => ({
      type,
      subject,
      client_id: tenant.clientId,
      actor: { kind: 'operator', user_id: null, token: null },
      // Where the operator sits is no business of the account.
      source: { address: null, user_agent: null },
      outcome: 'accepted',
      method: null,
      status: null,
    })),
  );
  expect(records[0].operation).toBe('token create');
  const seen = (await service.http.get(`/tradewind/v1/audit?limit=1&client_id=${client}`)).body.records;
  expect(seen[0].source.user_agent).toContain(`@${os.hostname()})`);
  // They are no requests.
  const logged = (await tenant.http.get('/cloud/v1/request_log')).body.results;
  expect(logged.filter(({ user_id }: { user_id: number }) => user_id === 0)).toEqual([]);
});

it('say who has made an address for the console, which is not made otherwise', async () => {
  const { cursor } = (await service.http.get('/tradewind/v1/events')).body;
  const made = await run('console', { url: 'https://cloud.example.com/' });
  expect(made.text).toMatch(/^https:\/\/cloud\.example\.com\/console\/#code=[\w-]{22}\n$/);
  const { events } = (await service.http.get(`/tradewind/v1/events?cursor=${cursor}&wait=20&limit=1`)).body;
  expect(events).toMatchObject([{ type: 'tradewind.login.code_made' }]);
  const recordAgain = await refuseRecordsOfCommands(service.pool);
  const codes = async () => (await service.pool.query('select from console_codes')).rowCount;
  const before = await codes();
  await expect(run('console')).rejects.toThrow('no_commands');
  expect(await codes()).toBe(before);
  await recordAgain();
});

it('change nothing that is not recorded', async () => {
  const folder = changedCatalog('features.yaml', ({ features = [] }) => ({
    features: [...features, { id: 4711, name: 'New', service: 'CDN', is_free: true }],
  }));
  const state = async () => {
    const { rows } = await service.pool.query(
      `select (select count(*) from data_keys) as keys, (select revision from catalog) as catalog`,
    );
    return rows[0];
  };
  const changes = [() => run('keys rotate'), () => run('catalog apply', {}, { TRADEWIND_CATALOG_DIR: folder })];
  const before = await state();
  const recordAgain = await refuseRecordsOfCommands(service.pool);
  for (const change of changes) await expect(change()).rejects.toThrow('no_commands');
  expect(await state()).toEqual(before);
  await recordAgain();
  for (const change of changes) await change();
  expect(await state()).toEqual({ keys: before.keys + 1, catalog: before.catalog + 1 });
  const { rows } = await service.pool.query(
    `select operation from user_actions where operation in ('keys rotate', 'catalog apply') order by id`,
  );
  expect(rows).toEqual([{ operation: 'keys rotate' }, { operation: 'catalog apply' }]);
  fs.rmSync(folder, { recursive: true });
});

const PRINT_JSON: [string, Record<string, string | boolean>][] = [
  ['orphans list', {}],
  ['orphans remove', { yes: true }],
  ['keys rotate', {}],
  ['keys give-up', { yes: true }],
  ['catalog apply', {}],
  ['region add', { kind: 'openstack', clouds, name: 'Lisbon', 'dry-run': true }],
  ['region use', { backend: 'simulated' }],
  ['client pause', { client: '2' }],
  ['client resume', { client: '2' }],
  ['token create', { client: '2', name: 'as JSON', role: 'Users' }],
  ['console', {}],
  ['audit verify', {}],
  ['migrate', {}],
  ['doctor', {}],
];
it.each(PRINT_JSON)('print JSON: %s', async (name, options) => {
  const { text } = await run(name, { ...options, json: true });
  expect(typeof JSON.parse(text)).toBe('object');
});

it('print JSON: user password, which then is the one to log in with', async () => {
  const { email } = await newPerson(service.http);
  const password = 'read from standard input';
  const stdin = vi.spyOn(process, 'stdin', 'get');
  stdin.mockReturnValue(Readable.from([`${password}\n`]) as typeof process.stdin);
  try {
    const { code, text } = await run('user password', { email, json: true });
    expect([code, JSON.parse(text)]).toEqual([0, { email, second_factor: false }]);
  } finally {
    stdin.mockRestore();
  }
  await logIn(service.anonymous, email, password);
});

/** Commands that run on and on, or install something, and where a test runs them or what they do. */
const TESTED_ELSEWHERE: Readonly<Record<string, [file: string, call: string]>> = {
  serve: ['test/acceptance/processes.ts', `'serve'`],
  'engines install': ['test/acceptance/package.slow.test.ts', `'engines', 'install'`],
  'kubernetes install': ['kubernetes/hosted/programs/install.test.ts', 'installVersion('],
};

it('are all tested', () => {
  const here = [...PRINT_JSON.map(([name]) => name), 'user password'];
  expect([...here, ...Object.keys(TESTED_ELSEWHERE)].toSorted()).toEqual(Object.keys(commands).toSorted());
  const printing = Object.entries(commands).filter(([, { json }]) => json);
  expect(here).toEqual(expect.arrayContaining(printing.map(([name]) => name)));
  for (const [name, [file, call]] of Object.entries(TESTED_ELSEWHERE))
    expect(fs.readFileSync(file, 'utf8'), name).toContain(call);
});

it('find out what was changed in the audit log, and what was inserted', async () => {
  const sealed = async () => (await service.http.get('/tradewind/v1/audit')).body.records[0].sealed;
  await expect.poll(sealed, { interval: 500 }).toBe(true);
  const before = await run('audit verify');
  expect([before.code, before.text]).toEqual([0, expect.stringContaining('Nothing was changed.')]);
  const seal = /Last seal: (\S+)/.exec(before.text)?.[1] ?? '';
  expect((await run('audit verify', { seal })).code).toBe(0);
  await service.pool.query(
    `insert into user_actions (id, client_id, user_id, request_id, operation, method, path, source_user_ip, outcome, status, "timestamp")
     values (-7, 1, 1, '', 'forged', '', '', '', 'accepted', 200, now())`,
  );
  const records: AuditRecord[] = (await service.http.get('/tradewind/v1/audit')).body.records;
  expect(records.find(({ id }) => id === -7)).toMatchObject({ operation: 'forged', sealed: false });
  await expect(run('audit verify', { seal })).rejects.toThrow(
    'Records were inserted with numbers that the log has not given: -7',
  );
  await service.pool.query('delete from user_actions where id = -7');
  await service.pool.query('update audit_retention set removed_before = now()');
  await expect(run('audit verify', { seal })).rejects.toThrow(
    'are marked as removed, but TRADEWIND_LOG_KEPT_DAYS keeps those of the last 365 days',
  );
  await service.pool.query('update audit_retention set removed_before = null');
  expect((await run('audit verify', { seal })).code).toBe(0);
  await service.pool.query(`update user_actions set user_id = 77 where operation = 'client pause'`);
  await expect(run('audit verify', { seal })).rejects.toThrow('a record was changed');
  expect((await run('audit verify', { seal: 'none' })).code).toBe(2);
});
