import { execFile, execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { Decimal } from 'decimal.js';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { BOOT_VOLUME } from '../support/boot-volume.ts';
import { changedCatalog } from '../support/catalogs.ts';
import { hasChromium, launchChromium } from '../support/chromium.ts';
import { createDatabase, type TestDatabase } from '../support/databases.ts';
import { createHttpClient, type HttpClient, SOON } from '../support/http-client.ts';
import { CLIENT, type IdentityProviderServer, startIdentityProvider } from '../support/identity-provider.ts';
import { bearer, logIn, PASSWORD } from '../support/logins.ts';
import { type MailServer, openMailServer } from '../support/mail-server.ts';
import { build, environment, ROOT, type ServeProcess, serve, temporaryFolder } from './processes.ts';

/*
 * The days of an operator, a reseller and a customer, told by the command line, the API, mails and a browser alone: each
 * test goes on where the one before it ended. TEST_KEEP_INVOICE=FOLDER keeps the invoice, and a picture of its first page.
 */
const TOKEN = '7_acceptance-secret';
const PUBLIC = 'https://cloud.example.com';
const MORNING = '2031-03-03T08:00:00Z';
const FLAVOR = 'g1-standard-1-2';
const MACHINE = {
  flavor: FLAVOR,
  interfaces: [{ type: 'external' }],
  volumes: [{ ...BOOT_VOLUME, size: 10, type_name: 'standard' }],
};
/** Five addresses for clients, and then the next ones. */
const PREFIXES = ['203.0.113.8/29', '198.51.100.0/24'];
/** A command takes a second where others work. */
const LATER = { timeout: 60_000, interval: 500 };
const JANE = 'jane@acme.example';
const WHY = 'The host has no room for a machine of that size';

const folder = temporaryFolder();
const catalogue = changedCatalog('regions.yaml', ({ regions = [] }) => ({
  regions: regions.map((region) => {
    if ((region as { id: number }).id !== 1) return region;
    const [network] = (region as { external_networks: object[] }).external_networks;
    return { ...region, external_networks: [{ ...network, prefixes: PREFIXES.map((cidr) => ({ cidr })) }] };
  }),
}));
let database: TestDatabase;
let mails: MailServer;
let company: IdentityProviderServer;
let service: ServeProcess;
let settings: Record<string, string>;
let platform: HttpClient;
let anonymous: HttpClient;
/** Of the reseller and of its client. */
const tokens = { reseller: '', client: '' };
const ids = { reseller: 0, client: 0 };
const invoices: number[] = [];
const machines: { id: string; name: string; address: string }[] = [];

beforeAll(async () => {
  build();
  [database, mails] = [await createDatabase({ empty: true }), await openMailServer()];
  company = await startIdentityProvider(`${PUBLIC}/tradewind/v1/sign_in/callback`);
  settings = {
    DATABASE_URL: database.url,
    TRADEWIND_DATA_DIR: folder,
    TRADEWIND_BOOTSTRAP_TOKEN: TOKEN,
    TRADEWIND_CATALOG_DIR: catalogue,
    TRADEWIND_SIMULATION_SPEED: '1000',
    TRADEWIND_TEST_API: 'true',
    TRADEWIND_TEST_CLOCK: MORNING,
    TRADEWIND_SUSPENSION_STOPS_MACHINES: 'true',
    TRADEWIND_INVOICE_GRACE: '24',
    TRADEWIND_PUBLIC_URL: PUBLIC,
    TRADEWIND_MAIL_FROM: 'noreply@example.com',
    TRADEWIND_SMTP_URL: `smtp://127.0.0.1:${mails.port}`,
    TRADEWIND_CONSOLE: 'off',
    TRADEWIND_WEBHOOK_ALLOW_HOSTS: '127.0.0.1',
    TRADEWIND_LOG_LEVEL: 'warn',
  };
  service = await serve(settings);
  [platform, anonymous] = [createHttpClient(service.url, TOKEN), createHttpClient(service.url, undefined)];
});
afterAll(async () => {
  await service?.end();
  await company?.stop();
  await mails?.stop();
  await database?.drop();
  for (const each of [folder, catalogue]) fs.rmSync(each, { recursive: true, force: true });
});

/** Runs a command with a token, and returns the JSON that it prints. */
async function tradewind(token: string, ...args: string[]) {
  const json = args.includes('--pdf') ? [] : ['--json'];
  const env = { ...environment(settings), TRADEWIND_URL: service.url, TRADEWIND_TOKEN: token, TRADEWIND_REGION: '1' };
  const options = { cwd: ROOT, env, maxBuffer: 2 ** 24, encoding: 'buffer' as const };
  const ran = promisify(execFile)('node', ['dist/src/main.js', ...args, ...json], options);
  const { stdout } = await ran.catch((error: Error & { stderr: Buffer }) => {
    throw new Error(`tradewind ${args.join(' ')}: ${error.stderr}`);
  });
  if (json.length === 0) return stdout;
  const text = stdout.toString();
  return text.trim() === '' ? undefined : JSON.parse(text);
}

const data = (body: object): string[] => ['--data', JSON.stringify(body)];

async function goTo(at: string): Promise<void> {
  const { status, text } = await platform.post('/tradewind/v1/test/clock', { at });
  expect(status, text).toBe(200);
}

const party = (name: string) => ({ company: name, address: 'Hauptstraße 1\n10115 Berlin', country: 'DE' });
const issuer = (name: string, invoice_prefix: string) => ({
  ...party(name),
  vat_rates: [{ country: 'DE', percent: 19 }],
  reverse_charge: true,
  invoice_prefix,
});

describe('a day', () => {
  it('begins with a region that has two prefixes of public addresses', async () => {
    const left = await tradewind(TOKEN, 'external-address', 'list');
    const own = left.filter(({ region_id }: { region_id: number }) => region_id === 1);
    expect(own.map(({ cidr }: { cidr: string }) => cidr)).toEqual(PREFIXES.toSorted());
  });

  it('founds a reseller, who owes the platform wholesale prices', async () => {
    const made = await tradewind(TOKEN, 'reseller', 'create', '--name', 'Harbour', '--email', 'admin@harbour.example');
    ids.reseller = made.id;
    await tradewind(TOKEN, 'invoice', 'issuer', 'set', ...data(issuer('Platform', 'PLAT')));
    const wholesale = { scope: 'reseller', id: made.id, price: 'wholesale', discount_percent: 40, floor_percent: 100 };
    await tradewind(TOKEN, 'price', 'create', ...data(wholesale));
    // Only an operator at the machine hands these out.
    const operator = ['token', 'create', '--client', String(made.client_id), '--reseller', '--json'];
    const printed = execFileSync('node', ['dist/src/main.js', ...operator], { cwd: ROOT, env: environment(settings) });
    tokens.reseller = JSON.parse(printed.toString()).token;
    await tradewind(tokens.reseller, 'invoice', 'issuer', 'set', ...data(issuer('Harbour', 'HARB')));
  });

  it('brings the reseller a client, who pays more than that, has a budget, and signs in with its company', async () => {
    const user = { email: JANE, password: PASSWORD, company: 'Acme' };
    const made = await tradewind(tokens.reseller, 'client', 'create-with-user', ...data(user));
    ids.client = made.client;
    const of = ['--client-id', String(made.client)];
    await tradewind(tokens.reseller, 'invoice', 'profile', 'set', ...of, ...data(party('Acme')));
    const given = (discount_percent: number) =>
      tradewind(tokens.reseller, 'price', 'create', ...data({ scope: 'client', id: made.client, discount_percent }));
    await expect(given(50)).rejects.toThrow(/the platform allows/);
    await given(10);

    const jane = bearer(service.url, await logIn(anonymous, JANE));
    const { body } = await jane.post(`/iam/v2/clients/${made.client}/tokens`, {
      name: 'command line',
      exp_date: null,
      client_user: { role: { name: 'Administrators' } },
    });
    tokens.client = body.token;
    const names = Array.from({ length: 6 }, (_, n) => `web-${n}`);
    const price = await tradewind(tokens.client, 'price', 'preview', 'instance', ...data({ ...MACHINE, names }));
    const amount = new Decimal(price.total_price_per_month).div(2).toDecimalPlaces(2).toNumber();
    await tradewind(tokens.client, 'budget', 'create', ...data({ amount, warn_at: [50, 100], stops_creation: true }));

    const provider = await tradewind(
      tokens.client,
      ...['identity-provider', 'create'],
      ...data({
        name: 'Acme',
        issuer: company.issuer,
        ...CLIENT,
        email_domains: ['acme.example'],
        groups: [{ group: 'developers', role: 'Engineers' }],
      }),
    );
    company.person = { sub: 'jo', email: 'jo@acme.example', email_verified: true, name: 'Jo', groups: ['developers'] };
    const begun = await fetch(`${service.url}/tradewind/v1/sign_in/${provider.id}`, { redirect: 'manual' });
    const cookie = begun.headers.get('set-cookie')?.split(';')[0] ?? '';
    const back = new URL(await company.visit(begun.headers.get('location') ?? ''));
    const ended = await fetch(service.url + back.pathname + back.search, { headers: { cookie } });
    const jo = bearer(service.url, (await ended.json()) as { access: string; refresh: string });
    expect((await jo.get('/iam/clients/me')).body).toMatchObject({ id: made.client, companyName: 'Acme' });
  });

  it('makes machines, which get the addresses of one prefix, and then of the next', async () => {
    for (let n = 0; n < 6; n++) {
      const name = `web-${n}`;
      const made = await tradewind(tokens.client, 'instance', 'create', '--wait', ...data({ name, ...MACHINE }));
      machines.push({ id: made.id, name, address: made.fixed_ip_assignments[0].ip_address });
    }
    const of = (prefix: string) => machines.filter(({ address }) => address.startsWith(prefix)).length;
    expect([of('203.0.113.'), of('198.51.100.')]).toEqual([5, 1]);
  });

  it('shows in one command what failed, by address and time', async () => {
    const [, machine = machines[0]] = machines;
    await platform.post('/tradewind/v1/test/faults', { task: 'resize_vm', do: { fail: WHY } });
    await goTo('2031-03-03T14:05:00Z');
    const change = ['instance', 'flavor', 'change', machine?.name ?? '', '--flavor-id', 'g1-standard-2-4', '--wait'];
    await expect(tradewind(tokens.client, ...change)).rejects.toThrow(WHY);
    const found = await tradewind(TOKEN, 'find', machine?.address ?? '', '--at', '2031-03-03T14:05:00Z');
    expect(found).toMatchObject({
      resources: [{ kind: 'instance', name: 'web-1' }, { kind: 'port' }],
      tasks: [{ task_type: 'resize_vm', state: 'ERROR', error: expect.stringContaining(WHY) }],
      addresses: [{ address: machine?.address, client_id: ids.client, to: null }],
      requests: [{ operation: 'changeInstanceFlavor', actor: { email: JANE }, task_id: found.tasks[0].id }],
    });
  });

  it('warns when half of the budget is spent, and makes nothing new when all of it is', async () => {
    await goTo('2031-03-22T08:00:00Z');
    const { mail } = await mails.mailTo(JANE, 'budget');
    expect(mail.text).toContain('Acme');
    const volume = data({ source: 'new-volume', name: 'more', size: 1, type_name: 'standard' });
    await vi.waitFor(
      () => expect(tradewind(tokens.client, 'volume', 'create', ...volume)).rejects.toThrow(/budget/),
      SOON,
    );
  });

  it('ends the month with an invoice for the client and one for the reseller, equal to the costs to the cent', async () => {
    await goTo('2031-04-03T08:00:00Z');
    const month = ['--from', '2031-03-01T00:00:00Z', '--to', '2031-04-01T00:00:00Z'];
    const sums: number[] = [];
    for (const [token, kind, number] of [
      [tokens.client, 'retail', 'HARB-2031-000001'],
      [tokens.reseller, 'wholesale', 'PLAT-2031-000001'],
    ] as const) {
      const invoice = await vi.waitFor(async () => {
        const [one] = await tradewind(token, 'invoice', 'list', '--month', '2031-03', '--kind', kind);
        expect(one).toMatchObject({ state: 'open', number });
        return one;
      }, SOON);
      const costs = await tradewind(token, 'usage', 'costs', ...month, '--price', kind);
      const sum = Decimal.sum(...costs.map(({ cost }: { cost: number }) => cost));
      expect(invoice.gross).toBe(sum.toDecimalPlaces(2).toNumber());
      expect(new Decimal(invoice.net).times(1.19).toDecimalPlaces(2).toNumber()).toBe(invoice.gross);
      sums.push(invoice.gross);
      invoices.push(invoice.id);
    }
    expect(sums[0]).toBeGreaterThan(sums[1] ?? 0);
  });

  it.skipIf(spawnSync('pdftotext', ['-v']).error)('prints the invoice, as PDF', async () => {
    const kept = process.env.TEST_KEEP_INVOICE ?? folder;
    const file = path.join(kept, 'invoice.pdf');
    fs.writeFileSync(file, await tradewind(tokens.client, 'invoice', 'get', String(invoices[0]), '--pdf'));
    const text = execFileSync('pdftotext', ['-layout', file, '-'], { encoding: 'utf8' });
    for (const part of ['HARB-2031-000001', 'Harbour', 'Acme', 'Hauptstraße 1', FLAVOR, '19'])
      expect(text).toContain(part);
    // A page of text is neither white nor black.
    execFileSync('pdftoppm', ['-png', '-r', '80', '-singlefile', file, path.join(kept, 'invoice')]);
    execFileSync('pdftoppm', ['-gray', '-r', '40', '-singlefile', file, path.join(folder, 'gray')]);
    const picture = fs.readFileSync(path.join(folder, 'gray.pgm')).subarray(15);
    const dark = picture.filter((shade) => shade < 128).length / picture.length;
    expect([dark > 0.001, dark < 0.2]).toEqual([true, true]);
    expect((await mails.mailTo(JANE, 'HARB-2031-000001')).mail.attachments).toHaveLength(1);
  });

  it('stops the machines of an account that is suspended, and starts them when it comes back', async () => {
    const states = async () => {
      const own = ['--client-id', String(ids.client), '--kind', 'instance'];
      const rows = await tradewind(tokens.reseller, 'resource', 'list', ...own);
      return rows.map(({ state }: { state: string }) => state);
    };
    await tradewind(tokens.reseller, 'client', 'suspend', String(ids.client));
    await vi.waitFor(async () => expect(await states()).toEqual(machines.map(() => 'SHUTOFF')), LATER);
    await expect(tradewind(tokens.client, 'instance', 'list')).rejects.toThrow(/suspended/);
    await tradewind(tokens.reseller, 'client', 'unsuspend', String(ids.client));
    await vi.waitFor(async () => expect(await states()).toEqual(machines.map(() => 'ACTIVE')), LATER);
  });

  it.skipIf(!hasChromium())('lets the client leave by a page in a browser, and the reseller delete it', async () => {
    await tradewind(tokens.client, 'deletion-request', 'create', '--reason', 'We have moved elsewhere');
    const { mail } = await mails.mailTo(JANE, 'Confirm that Acme');
    const [, link = ''] = new RegExp(`${PUBLIC}(/\\S+)`).exec(mail.text ?? '') ?? [];
    const browser = await launchChromium();
    try {
      const page = await browser.newPage();
      await page.goto(service.url + link);
      await page.getByRole('button', { name: 'Confirm the deletion' }).click();
      await page.getByRole('heading', { name: 'The request is confirmed' }).waitFor();
    } finally {
      await browser.close();
    }
    const client = ['client', 'delete', String(ids.client)];
    const shown = await tradewind(tokens.reseller, ...client);
    expect(JSON.stringify(shown)).toContain('instance');
    await tradewind(tokens.reseller, ...client, '--confirmation', shown.confirmation, '--wait');
    expect(await tradewind(tokens.reseller, 'client', 'get', String(ids.client))).toMatchObject({ deleted: true });
    expect(await tradewind(TOKEN, 'resource', 'list', '--client-id', String(ids.client))).toEqual([]);
  });
});
