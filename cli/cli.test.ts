import fs from 'node:fs';
import net, { type AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BOOT_VOLUME } from '../test/support/boot-volume.ts';
import { type Ran, type Typed, tradewind, wordsIn } from '../test/support/cli.ts';
import { DAY_MS, notAtTheEndOf } from '../test/support/clock.ts';
import { startService, type TestService } from '../test/support/service.ts';
import { openReceiver, type WebhookReceiver } from '../test/support/webhook-receiver.ts';
import type { Addition } from './api/api-command.ts';
import { apiCommands, clientCommands } from './commands.ts';
import { additions } from './groups/additions.ts';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-cli-'));
let receiver: WebhookReceiver;
let service: TestService;
beforeAll(async () => {
  receiver = await openReceiver();
  service = await startService({ TRADEWIND_WEBHOOK_ALLOW_HOSTS: receiver.host, TRADEWIND_TEST_API: 'true' });
});
afterAll(async () => {
  await service.stop();
  receiver.stop();
  fs.rmSync(folder, { recursive: true });
});

/** The commands that did what they should. */
const shown = new Set<string>();
const names = clientCommands()
  .map(({ name }) => name)
  .toSorted((one, other) => other.length - one.length);

function run(line: string, typed: Typed = {}): Promise<Ran> {
  const environment = {
    TRADEWIND_URL: service.url,
    TRADEWIND_TOKEN: service.http.token ?? '',
    ...typed.environment,
  };
  return tradewind(line, { ...typed, environment });
}

/** Runs a command that must work, and returns what it prints as JSON. */
async function json(line: string, typed: Typed = {}): Promise<Ran['json']> {
  const { code, err, json: printed } = await run(`${line} --json`, typed);
  expect(code, `${line}: ${err}`).toBe(0);
  shown.add(nameOf(line));
  return printed;
}

/** Runs a command that must work, and returns what it prints for people. */
async function text(line: string, typed: Typed = {}): Promise<string> {
  const { code, err, out } = await run(line, typed);
  expect(code, `${line}: ${err}`).toBe(0);
  shown.add(nameOf(line));
  return out;
}

async function refused(line: string, typed: Typed = {}): Promise<Ran> {
  const ran = await run(line, typed);
  expect(ran.code, ran.out).not.toBe(0);
  expect(ran.out).toBe('');
  return ran;
}

function nameOf(line: string): string {
  const words = wordsIn(line).join(' ');
  return names.find((name) => words.startsWith(name)) ?? expect.fail(`There is no command ${line}`);
}

/** The cells of a table by its headings. */
function cells(table: string): string[][] {
  return table
    .trimEnd()
    .split('\n')
    .map((line) => line.trim().split(/ {2,}/));
}

async function task(command: string): Promise<string> {
  const {
    body,
    status,
    text: answer,
  } = await service.http.post(command, {
    name: 'web',
    type_name: 'standard',
    source: 'new-volume',
    size: 10,
  });
  expect(status, answer).toBe(200);
  return body[0];
}

describe('every command', () => {
  it('client', async () => {
    const { id } = await json('client create --company "Acme Inc."');
    expect(await json(`client get ${id}`)).toMatchObject({ id, companyName: 'Acme Inc.' });
    expect(await json('client me')).toMatchObject({ id: 1 });
    await json(`client change ${id} --custom-id A-7 --is-test true`);
    expect(await json(`client suspend ${id}`)).toMatchObject({ status: 'paused' });
    expect(await json(`client unsuspend ${id}`)).toMatchObject({ id });
    expect(await json(`client set-sign-in ${id} --second-factor required --roles Administrators`)).toMatchObject({
      second_factor: 'required',
    });
    expect(await json(`client sign-in ${id}`)).toEqual({ second_factor: 'required', roles: ['Administrators'] });
    const { id: going } = await json('client create --company Gone');
    const { confirmation, contents } = await json(`client delete ${going}`);
    expect(contents).not.toEqual([]);
    expect(await json(`client delete ${going} --confirmation ${confirmation} --wait`)).toMatchObject({
      state: 'FINISHED',
    });
    const list = cells(await text('client list --company-name Acme --ordering id'));
    expect(list[0]).toEqual(['ID', 'COMPANY', 'EMAIL', 'STATUS', 'DELETED']);
    expect(list[1]?.slice(0, 2)).toEqual([String(id), 'Acme Inc.']);
    expect(await json('client list --company-name nobody')).toEqual([]);
    expect((await run('client list --company-name nobody')).err).toBe('None.\n');
  });

  it('user', async () => {
    const file = path.join(folder, 'password');
    fs.writeFileSync(file, 'many small green apples\n');
    await json(`user create --username eve@example.com --password-file ${file} --role Engineers`);
    const { user_id: invited } = await json('user invite --email ina@example.com --role Users');
    const rows = await json('user list --all');
    const { id } = rows.find(({ email }: { email: string }) => email === 'eve@example.com');
    expect(await json(`user get ${id}`)).toMatchObject({ groups: [{ name: 'Engineers' }] });
    await json(`user change ${id} --name Eve --lang de`);
    await json(`user set-role ${id} --role Users`);
    expect(await json(`user role ${id}`)).toMatchObject({ user_role: { name: 'Users' } });
    expect(await text('user list')).toMatch(/eve@example\.com +Eve/);
    await json(`user reset-second-factors ${id} --yes`);
    await json(`user remove ${invited} --yes`);
    expect(await text(`user delete ${id}`, { answer: 'y' })).toBe('Done.\n');
    expect((await refused(`user get ${id}`)).code).toBe(1);
  });

  it('token', async () => {
    const made = await json('token create --name ci --role Engineers --expires 2099-01-01T00:00:00Z');
    expect(made).toMatchObject({
      client_user: { role: { name: 'Engineers' } },
      exp_date: '2099-01-01T00:00:00.000000Z',
    });
    const mine = { environment: { TRADEWIND_TOKEN: made.token } };
    expect(await json('project list', mine)).toHaveLength(1);
    expect((await refused('webhook list', mine)).err).toMatch(/^Refused \(403\): /);
    expect(await json('token create --name other')).toMatchObject({
      exp_date: null,
      client_user: { role: { name: 'Administrators' } },
    });
    expect(await text('token list --role Engineers')).toMatch(/ci .* Engineers +2099-01-01/);
    expect(await json(`token get ${made.id}`)).not.toHaveProperty('token');
    await json(`token delete ${made.id} --yes`);
    expect((await refused('project list', mine)).err).toMatch(/\(401\)[\s\S]*"tradewind token create"/);
  });

  it('reseller', async () => {
    const { id } = await json('reseller create --name Northern');
    expect(await json(`reseller get ${id}`)).toMatchObject({ name: 'Northern' });
    expect(await text('reseller list')).toContain('Northern');
    expect(await json(`reseller delete ${id} --yes --wait`)).toMatchObject({ state: 'FINISHED' });
    const seller = await json('reseller seller invite --email sam@example.com --full-name Sam');
    await json(`reseller seller change ${seller.id} --phone 1`);
    expect(await json(`reseller seller get ${seller.id}`)).toMatchObject({ full_name: 'Sam', phone: '1' });
    expect(await text('reseller seller list')).toContain('sam@example.com');
    await json(`reseller seller delete ${seller.id} --yes`);
    const group = 'reseller notification';
    const made = await json(`${group} create --reseller 1 --notification-type failed_login --email a@example.com`);
    await json(
      `${group} change ${made.id} --reseller 1 --notification-type failed_login --email b@example.com --enabled false`,
    );
    expect(await json(`${group} get ${made.id} --reseller 1`)).toMatchObject({
      email: 'b@example.com',
      enabled: false,
    });
    expect(await text(`${group} list --reseller 1`)).toContain('b@example.com');
    await json(`${group} delete ${made.id} --reseller 1 --yes`);
    expect((await refused(`${group} list`)).err).toContain("required option '--reseller <ID>'");
  });

  it('product', async () => {
    const { token } = await json('reseller create --name Choosing');
    const own = { environment: { TRADEWIND_TOKEN: token } };
    const one = '--product-name STREAMING';
    expect(await json(`product default set ${one} --available false`, own)).toEqual({
      product_name: 'STREAMING',
      available: false,
    });
    const byDefault = cells(await text('product default list', own));
    expect(byDefault[0]).toEqual(['PRODUCT', 'AVAILABLE']);
    expect(byDefault).toContainEqual(['STREAMING', 'false']);
    const { id } = await json('client create --company Chosen', own);
    const available = async () => Object.fromEntries(cells(await text(`product list ${id}`, own))).STREAMING === 'true';
    expect(await available()).toBe(false);
    await json(`product set ${id} ${one} --available true`, own);
    expect(await available()).toBe(true);
    expect(await text(`product reset ${id} --product-names STREAMING`, { ...own, answer: 'y' })).toBe('Done.\n');
    expect(await available()).toBe(false);
    await json(`product set ${id} ${one} --available true`, own);
    await json('product reset-all --product-names CLOUD --product-names STREAMING --yes', own);
    expect(await available()).toBe(false);
    const inUse = await refused(`product set ${id} --product-name CLOUD --available false`, own);
    expect([inUse.code, inUse.err]).toEqual([1, expect.stringMatching(/^Refused \(403\): .* use CLOUD; pause/)]);
  });

  it('project and region', async () => {
    const { id } = await json('project create --name tests --description "for the suite"');
    expect(await json(`project change ${id} --name suite`)).toMatchObject({ name: 'suite' });
    expect(await json(`project get ${id}`)).toMatchObject({ description: 'for the suite' });
    expect(await text('project list --name suite')).toContain('suite');
    expect(await json(`project delete ${id} --contents true --yes --wait`)).toMatchObject({
      state: 'FINISHED',
    });
    expect(await text('region list')).toContain('ACTIVE');
  });

  it('task', async () => {
    const id = await task('/cloud/v1/volumes/1/1');
    expect(await json(`wait task ${id}`)).toMatchObject({ id, state: 'FINISHED' });
    expect(await json(`task get ${id}`)).toMatchObject({ task_type: 'create_volume' });
    const steps = await json(`task steps ${id}`);
    expect(steps).toMatchObject([{ kind: 'volume', state: 'done' }]);
    expect(await json(`task acknowledge ${id}`)).toHaveProperty('acknowledged_at');
    const list = await text('task list --state FINISHED --task-type create_volume --project-id 1');
    expect(cells(list)[1]?.slice(0, 3)).toEqual([id, 'create_volume', 'FINISHED']);
    await service.http.post('/tradewind/v1/test/faults', { task: 'create_volume', do: { hold: true } });
    const other = await task('/cloud/v1/volumes/1/1');
    await json(`task cancel ${other}`);
    await service.http.delete('/tradewind/v1/test/faults');
    const { code, err } = await run(`wait task ${other}`);
    expect([code, err]).toEqual([4, expect.stringContaining(`Task ${other} (create_volume) failed: `)]);
  });

  it('find, resource and platform', async () => {
    await service.http.post('/tradewind/v1/test/faults', {
      task: 'create_volume',
      name: 'lost',
      do: { fail: 'no room' },
    });
    const { body } = await service.http.post('/cloud/v1/volumes/1/1', { name: 'lost', source: 'new-volume', size: 1 });
    expect(await run(`wait task ${body[0]}`)).toMatchObject({ code: 4 });
    await service.http.delete('/tradewind/v1/test/faults');
    const at = new Date().toISOString();
    const found = await json(`find lost --at ${at} --within 5`);
    expect(found).toMatchObject({
      resources: [],
      former: [{ kind: 'volume', name: 'lost' }],
      tasks: [{ id: body[0], state: 'ERROR', error: expect.stringContaining('no room'), steps: expect.any(Array) }],
    });
    // With what was refused to the account at that time.
    const request = { operation: 'createVolume', status: 200, task_id: body[0] };
    expect(found.requests).toContainEqual(expect.objectContaining(request));
    const told = await text(`find lost --at ${at}`);
    for (const part of ['Found', 'gone', 'Requests', 'createVolume', `Task ${body[0]} of account 1`, 'no room']) {
      expect(told).toContain(part);
    }
    expect(await json('find lost --at 2020-01-01T00:00:00Z')).toMatchObject({ tasks: [], requests: [] });
    expect((await run('find lost --at 2020-01-01T00:00:00Z')).err).toContain(
      'Nothing was done with it from 2019-12-31T23:45:00.000Z to 2020-01-01T00:15:00.000Z; --within looks further.',
    );
    expect((await run('find nothing-of-that-name')).err).toContain(
      'Nothing was found in the accounts that you manage.',
    );
    const { code, err } = await refused('find lost --at teatime');
    expect([code, err]).toEqual([2, expect.stringContaining('--at must be a time such as 14:05')]);
    expect(cells(await text('resource list --kind project --client-id 1'))[1]?.slice(0, 2)).toEqual(['1', 'project']);
    expect(await json('platform backlog')).toEqual([]);
  });

  it('event', async () => {
    let from: string | undefined;
    // A database that other tests keep busy may not be asked in time, which is a 503.
    const cursor = async () => (from = (await service.http.get('/tradewind/v1/events')).body.cursor);
    await expect.poll(cursor).toBeDefined();
    const { id } = await json('project create --name told');
    await json(`project change ${id} --name told-again`);
    await json(`project delete ${id} --yes`);
    // Events are told once no transaction can come before them.
    await expect.poll(async () => (await json(`event list --cursor ${from} --subject project/${id}`)).length).toBe(3);
    const listed = await run(`event list --cursor ${from} --subject project/${id} --limit 2 --json`);
    expect(listed.json.map(({ type }: { type: string }) => type)).toEqual([
      'tradewind.project.created',
      'tradewind.project.updated',
    ]);
    const [, next] = /--cursor (\d+)/.exec(listed.err) ?? [];
    const followed = await text(`event follow --cursor ${next} --type tradewind.project.* --count 1`);
    expect(followed).toMatch(/^\S+Z {2}tradewind\.project\.delet\w+ {2}project\/\d+/);
    // Lines of JSON.
    const lines = await text('event follow --cursor oldest --count 2 --json');
    expect(
      lines
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).specversion),
    ).toEqual(['1.0', '1.0']);
  });

  it('webhook', async () => {
    const made = await json(
      `webhook create --receiver ${receiver.url}/a --types tradewind.client.* --types tradewind.project.*`,
    );
    expect(made).toMatchObject({ types: ['tradewind.client.*', 'tradewind.project.*'] });
    await json(`webhook change ${made.id} --description "for CI"`);
    expect(await json(`webhook get ${made.id}`)).toMatchObject({
      description: 'for CI',
      url: `${receiver.url}/a`,
    });
    const { id } = await json(`webhook test ${made.id}`);
    const delivery = () => json(`webhook delivery ${made.id} ${id}`);
    await expect.poll(async () => (await delivery()).state).toBe('delivered');
    expect(await text(`webhook deliveries ${made.id}`)).toMatch(/tradewind\.webhook\.test .*delivered/);
    await json(`webhook redeliver ${made.id} ${id}`);
    const rotated = await json(`webhook rotate-secret ${made.id} --overlap-s 60 --secret-file -`, {
      input: `whsec_${Buffer.from('s'.repeat(32)).toString('base64')}\n`,
    });
    expect(rotated.secret).toBe(`whsec_${Buffer.from('s'.repeat(32)).toString('base64')}`);
    expect(await text('webhook list')).toContain(receiver.url);
    await json(`webhook delete ${made.id} --yes`);
  });

  it('price', async () => {
    const of = '--project 1 --region 1';
    const volume = `price preview volume ${of} --source new-volume --size 10 --type-name standard`;
    expect(await json(volume)).toMatchObject({ price_status: 'show' });
    expect(await text(volume)).toMatch(/^currency_code +EUR\n/);
    const price = await json(
      `price create --scope client --id 1 --discount-percent 10 --valid-from ${NEXT_YEAR}-01-01T00:00:00Z`,
    );
    expect(await json(`price get ${price.id}`)).toMatchObject({ discount_percent: 10 });
    expect(await text('price list --scope client')).toContain(`${NEXT_YEAR}-01-01`);
    await json(`price delete ${price.id} --yes`);
    expect(cells(await text('price show'))[0]).toEqual(['ITEM', 'REGION', 'HOUR', 'MONTH', 'GB', 'LIST']);
    await json(`price preview image ${of} --size 1000`);
    await json(`price preview floating-ip ${of} --count 2`);
    await json(`price preview file-share ${of} --source new-file-share --size 10 --type-name standard`);
    await json(`price preview reserved-ip ${of} --data '{"type": "external"}'`);
    await json(
      `price preview instance ${of} --flavor g1-standard-2-4 --volumes '[]' --interfaces '[{"type": "external"}]'`,
    );
    await json(`price preview load-balancer ${of} --flavor lb1-1-2`);
    await json(`price preview cluster ${of} --data -`, {
      input: '{"pools": [{"flavor_id": "g1-standard-2-4", "node_count": 1}]}',
    });
    const { rows } = await service.pool.query('select id from volumes limit 1');
    await json(`price preview snapshot ${of} --volume-id ${rows[0].id}`);
    await json('price ddos --region 1');
    await json('price logging --region 1');
    // There are neither, and the server says so.
    for (const line of [`price cluster none ${of}`, `price instance ${SOME_ID} ${of}`]) {
      expect((await refused(line)).err).toMatch(/^Refused \(404\): /);
      shown.add(nameOf(line));
    }
  });

  it('quota', async () => {
    const of = '--client 1 --region 1';
    expect(cells(await text('quota list'))[0]).toEqual(['REGION', 'QUOTA', 'USED', 'LIMIT']);
    expect(await json(`quota change ${of} --vm-count-limit 7`)).toMatchObject({ vm_count_limit: 7 });
    expect(await json(`quota get ${of}`)).toMatchObject({ vm_count_limit: 7 });
    expect(await json('quota change-global --project-count-limit 70')).toMatchObject({
      project_count_limit: 70,
    });
    expect(await json('quota get-global')).toMatchObject({ project_count_limit: 70 });
    await json('quota threshold set --threshold 80');
    expect(await json('quota threshold get')).toMatchObject({ threshold: 80 });
    await json('quota threshold delete --yes');
    await json(
      `quota request create --description "More machines" --requested-limits '{"regional_limits": [{"region_id": 1, "vm_count_limit": 9}]}'`,
    );
    const [{ id }] = await json('quota request list --status "in progress"');
    expect(await json(`quota request get ${id}`)).toMatchObject({ description: 'More machines' });
    expect(await json(`quota request decide ${id} --status done`)).toMatchObject({ status: 'done' });
    await json(`quota request delete ${id} --yes`);
    const [head, first] = cells(await text('external-address list --region-id 1'));
    expect(head).toEqual(['REGION', 'NETWORK', 'PREFIX', 'TOTAL', 'IN USE', 'FREE', 'KEPT']);
    expect(first).toContain('198.18.16.0/20');
  });

  it('usage', async () => {
    await notAtTheEndOf(DAY_MS);
    const day = new Date().toISOString().slice(0, 10);
    const time = `--time-from ${day}T00:00:00Z --time-to ${day}T23:59:59Z --enable-last-day true`;
    const lines = await json('usage list --by resource --by day');
    expect(lines).toContainEqual(expect.objectContaining({ type: 'volume', name: 'web', day }));
    expect(cells(await text('usage costs --type volume'))[1]).toContain('volume');
    expect(await text('usage costs --csv')).toMatch(/^client_id,/);
    const running = await text('client running-costs 1');
    expect(running).toMatch(/^price_per_hour +\d/m);
    expect(running).toMatch(/\n\nlines:\nREGION_ID +TYPE +/);
    const used = await json(`usage report used ${time}`);
    expect(used).toContainEqual(expect.objectContaining({ type: 'volume', last_name: 'web' }));
    expect(cells(await text(`usage report costs ${time}`))[0]).toContain('COST');
    expect(await json(`usage report resources ${time} --types volume`)).not.toEqual([]);
    expect(await json(`usage report month --year-month ${day.slice(0, 7)}`)).not.toEqual([]);
    expect(await text(`usage report costs ${time} --response-format csv_totals`)).toMatch(/^\S*type,/);
  });

  it('invoice', async () => {
    const party = '--company Example --address "Street 1" --country DE';
    const rates = `--vat-rates '[{"country": "DE", "percent": 19}]' --reverse-charge true --invoice-prefix INV`;
    const issuer = { company: 'Example', vat_rates: [{ country: 'DE', percent: 19 }] };
    expect(await json(`invoice issuer set ${party} ${rates}`)).toMatchObject(issuer);
    expect(await json('invoice issuer get')).toMatchObject(issuer);
    await json(`invoice profile set ${party} --vat-id DE123456789`);
    expect(await json('invoice profile get')).toMatchObject({ vat_id: 'DE123456789' });
    expect(await json('invoice list --month 2026-03')).toEqual([]);
    // No month has ended.
    for (const line of [
      'invoice get 1',
      'invoice credit 1 --reason Slow',
      'invoice pay --invoice-id 1 --amount 1 --reference one',
    ]) {
      expect((await refused(line)).err).toMatch(/^Refused \(40[04]\): /);
      shown.add(nameOf(line));
    }
  });

  it('audit', async () => {
    // Refusals come within a second.
    await expect.poll(() => text('audit list --outcome refused --limit 5')).toContain('refused');
    const all = (await text('audit export --type tradewind.token.*')).trimEnd().split('\n');
    expect(all.length).toBeGreaterThan(1);
    expect(all.map((line) => JSON.parse(line).type)).toContain('tradewind.token.deleted');
  });

  it('console of an instance', async () => {
    const network_id = (await service.http.get('/cloud/v1/networks/1/1')).body.results[0].id;
    const { body } = await service.http.post('/cloud/v2/instances/1/1', {
      name: 'talks',
      flavor: 'g1-standard-1-2',
      interfaces: [{ type: 'any_subnet', network_id }],
      volumes: [BOOT_VOLUME],
    });
    await service.http.task(body[0]);
    let type = (_keys: Buffer) => {};
    const printed = await text('instance console attach talks --project 1 --region 1', {
      keys: (typed) => {
        type = typed;
      },
      onOut: (part) => {
        if (part.endsWith('login: ')) type(Buffer.from(part.includes('no guest') ? '\x1d' : 'root\r'));
      },
    });
    expect(printed).toMatch(/talks login: root.*runs no guest/s);
    expect(await text('instance console get talks --project 1 --region 1')).toMatch(/^ws:\S+\n$/);
  });

  it('is shown above if it does more than to call its operation', () => {
    const simple = ({ columns: _, ...more }: Addition = {}) => Object.keys(more).length === 0;
    const derived = apiCommands().filter(({ operation }) => simple(additions[operation]));
    const more = names.filter((name) => !derived.some((one) => one.name === name));
    expect(more.length).toBeGreaterThan(10);
    expect(more.filter((name) => !shown.has(name))).toEqual([]);
  });
});

describe('a command', () => {
  it('never takes the token from the command line', async () => {
    const { code, err } = await refused('project list --token 1_secret');
    expect([code, err]).toEqual([2, expect.stringContaining('TRADEWIND_TOKEN')]);
    expect(err).not.toContain('1_secret');
  });

  it('takes the token from a file or standard input, and says where one comes from', async () => {
    const file = path.join(folder, 'token');
    fs.writeFileSync(file, `${service.http.token}\n`);
    const environment = { TRADEWIND_TOKEN: '' };
    expect((await run(`project list --token-file ${file}`, { environment })).code).toBe(0);
    expect((await run('project list', { environment: { ...environment, TRADEWIND_TOKEN_FILE: file } })).code).toBe(0);
    const input = service.http.token ?? '';
    expect((await run('project list --token-file -', { environment, input })).code).toBe(0);
    expect((await refused('project list', { environment })).err).toContain('"tradewind token create"');
    fs.writeFileSync(file, 'two words\n');
    expect(await refused(`project list --token-file ${file}`, { environment })).toMatchObject({
      code: 2,
      err: `${file} contains no token\n`,
    });
  });

  it('logs in with the access of a login', async () => {
    const password = 'many small green apples';
    await run('user create --username login@example.com --role Users --password-file -', { input: password });
    const { body } = await service.anonymous.post('/iam/auth/jwt/login', {
      username: 'login@example.com',
      password,
    });
    const environment = { TRADEWIND_TOKEN: body.access };
    expect(await json('client me', { environment })).toMatchObject({ id: 1 });
  });

  it('says what the server refuses, and why', async () => {
    const { code, err } = await refused('project create --name ""');
    expect(code).toBe(1);
    expect(err).toMatch(/^Refused \(400\): [\s\S]*\n {2}name: /);
    const { err: problem } = await refused('project get 4711 --json');
    expect(JSON.parse(problem)).toMatchObject({ status: 404, title: 'Not Found', code: 'not-found' });
  });

  it('says what is wrong with its words', async () => {
    for (const [line, complaint] of [
      ['project create', 'Missing: --name'],
      ['user create --username a@b.example', 'Missing: --password-file'],
      ['token create', 'Missing: --name'],
      ['project create --data {', '--data is no JSON'],
      ['project create --data @/none', "/none can't be read"],
      ['project get', "missing required argument 'project'"],
      ['project get x y', 'too many arguments'],
      ['project lost', 'Did you mean list?'],
      ['projekt list', 'Did you mean project?'],
      ['project list --nam x', 'Did you mean --name?'],
      ['project list --limit few', '--limit must be a whole number'],
      ['task list --state DONE', 'Allowed choices are NEW, RUNNING'],
      ['wait task x --timeout soon', '--timeout must be a number of seconds'],
      ['project list --url nowhere', 'nowhere is no address'],
      ['completion tcsh', 'Allowed choices are zsh, bash, fish'],
    ] as const) {
      const { code, err } = await refused(line);
      expect([code, err], line).toEqual([2, expect.stringContaining(complaint)]);
    }
    // Without a command, the help of the group says which there are.
    expect(await refused('project')).toMatchObject({
      code: 2,
      err: expect.stringContaining('Usage: tradewind project'),
    });
  });

  it('says that nobody answers, at which address, and how to set another', async () => {
    const nobody = 'http://127.0.0.1:9';
    for (const [line, environment, source] of [
      [`project list --url ${nobody}`, {}, 'from --url'],
      ['project list', { TRADEWIND_URL: nobody }, 'from TRADEWIND_URL'],
      ['project list', { TRADEWIND_URL: '', TRADEWIND_PORT: '9' }, 'from TRADEWIND_PORT'],
    ] as const) {
      const { code, err } = await refused(line, { environment });
      expect(code).toBe(3);
      expect(err).toMatch(/^http:\/\/127\.0\.0\.1:9 can't be reached: /);
      expect(err).toContain(`. This address is ${source}; "export TRADEWIND_URL=http://host:8080", or --url,`);
    }
  });

  it.each(['clustr', 'clustr create', 'help clustr', 'clustr --help', 'clinet list --help'])(
    'refuses %s, which there is not',
    async (line) => {
      const { code, err, out } = await refused(line, {});
      expect([code, out]).toEqual([2, '']);
      expect(err).toMatch(/unknown command '(clustr|clinet)'\n\(Did you mean (cluster|client)\?\)/);
    },
  );

  it('describes each command and group in the help of what it belongs to', async () => {
    const groups = new Set(['']);
    for (const name of names) {
      const words = name.split(' ');
      for (let count = 1; count < words.length; count++) groups.add(words.slice(0, count).join(' '));
    }
    expect(groups.size).toBeGreaterThan(15);
    for (const group of groups) {
      const { out } = await run(`${group} --help`);
      const listed = [...out.matchAll(/^[A-Z][\w ]+:\n((?: {2}[a-z].*\n(?: {4}.*\n)*)+)/gm)]
        .map(([, found]) => found)
        .join('');
      const entries = [...listed.matchAll(/^ {2}([a-z][a-z-]*)(?: [[<].*?[\]>])* {2,}(.*(?:\n {4,}.*)*)/gm)];
      expect(entries.length, out).toBeGreaterThan(0);
      const siblings = entries.map(([, name = '']) => name);
      for (const [, name, words = ''] of entries) {
        const text = words.replace(/\s+/g, ' ');
        // A sentence, and no list of words to type.
        expect(text, `${group} ${name}`).toMatch(/^[A-Z][a-z]+,? \S+/);
        expect(siblings, `${group} ${name}`).not.toContain(text.split(',')[0]);
      }
    }
  });

  it('has help for each', async () => {
    const { code, out } = await run('help');
    expect(code).toBe(0);
    for (const word of ['serve', 'webhook', 'Have events sent to programs', 'completion', 'TRADEWIND_DATA_DIR'])
      expect(out).toContain(word);
    for (const name of names) {
      const help = await run(`help ${name}`);
      expect([help.code, help.out], name).toEqual([0, expect.stringContaining(`Usage: tradewind ${name} [options]`)]);
    }
    expect((await run('client --help')).out).toMatch(/pause[\s\S]*list/);
  });

  it('shows what it would do, and does nothing', async () => {
    const tried = await json('project create --name tried --dry-run');
    expect(tried.changes).toMatchObject([{ op: 'add', value: { name: 'tried' } }]);
    expect(await json('project list --name tried')).toEqual([]);
  });

  it('asks before it deletes', async () => {
    const { id } = await json('project create --name precious');
    const asked = await refused(`project delete ${id}`, { answer: 'n' });
    expect([asked.code, asked.err]).toEqual([2, expect.stringContaining('are you sure? [y/N] Nothing was done.')]);
    expect((await refused(`project delete ${id}`)).err).toContain('add --yes');
    expect(await json(`project get ${id}`)).toMatchObject({ deleted_at: null });
  });

  it('says when a list has more', async () => {
    for (const name of ['one', 'two', 'three']) await json(`project create --name page-${name}`);
    const some = await run('project list --limit 2 --order-by name.asc');
    expect(cells(some.out)).toHaveLength(3);
    expect(some.err).toBe('There are more: --all shows them.\n');
    expect((await json('project list --all')).length).toBeGreaterThan(2);
  });

  it('makes tables as wide as the terminal', async () => {
    const widest = (table: string) => Math.max(...table.split('\n').map((line) => line.length));
    const full = await text('task list');
    const { out } = await run('task list', { width: 90 });
    expect(widest(full)).toBeGreaterThan(100);
    expect(widest(out)).toBeLessThanOrEqual(90);
    // Whatever is cut, the ID is not.
    const ids = (table: string) => cells(table).map(([id]) => id);
    expect(ids(out)).toEqual(ids(full));
    expect(out).toContain('…');
  });

  it('waits no longer than it is told', async () => {
    await service.http.post('/tradewind/v1/test/faults', { task: 'create_volume', do: { hold: true } });
    const id = await task('/cloud/v1/volumes/1/1');
    const { code, err } = await run(`wait task ${id} --timeout 1`);
    expect([code, err]).toEqual([5, expect.stringContaining('has not ended; it goes on')]);
    await service.http.delete('/tradewind/v1/test/faults');
    expect(await json(`wait task ${id}`)).toMatchObject({ state: 'FINISHED' });
    expect((await refused(`wait task ${SOME_ID}`)).code).toBe(1);
  });

  it('follows events until it is stopped, over lost connections', async () => {
    const relay = await openRelay(service.url);
    const stopping = new AbortController();
    const { cursor } = (await service.http.get('/tradewind/v1/events')).body;
    const seen: string[] = [];
    const following = run(`event follow --cursor ${cursor} --type tradewind.project.created --json`, {
      environment: { TRADEWIND_URL: relay.url },
      stop: stopping.signal,
      onOut: (line) => seen.push(JSON.parse(line).subject),
    });
    const made = [(await json('project create --name first')).id];
    await expect.poll(() => seen).toHaveLength(1);
    relay.cut();
    // Made while nobody listened.
    made.push((await json('project create --name second')).id);
    await expect.poll(() => seen).toEqual(made.map((id) => `project/${id}`));
    stopping.abort();
    const { code, err } = await following;
    relay.close();
    expect([code, err]).toEqual([0, expect.stringMatching(/trying again\n[\s\S]*--cursor \d+" continues/)]);
  });
});

const NEXT_YEAR = new Date().getUTCFullYear() + 1;
const SOME_ID = '7f3f9a52-0a0e-4b0f-8f5a-3c8a2b6d1e90';

/** A way to the server that can be cut. */
async function openRelay(to: string) {
  const open = new Set<net.Socket>();
  const server = net.createServer((near) => {
    const far = net.connect(Number(new URL(to).port), '127.0.0.1');
    for (const socket of [near, far]) open.add(socket.on('error', () => {}));
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = () => {
    for (const socket of open) socket.destroy();
    open.clear();
  };
  const close = () => {
    server.close();
    cut();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, cut, close };
}
