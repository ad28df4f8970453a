import { createPrivateKey, randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runningEmbedded } from '../../postgres/socket.ts';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { encryptionKeysOf } from '../../src/secrets/encryption-keys.ts';
import { createSecrets } from '../../src/secrets/secrets.ts';
import { BOOT_VOLUME } from '../support/boot-volume.ts';
import { createHttpClient, type HttpClient } from '../support/http-client.ts';
import { invite, newPerson } from '../support/logins.ts';
import { tlsBundle } from '../support/tls-bundles.ts';
import { build, runTradewind, type ServeProcess, serve, temporaryFolder } from './processes.ts';

const TOKEN = `1_${randomBytes(16).toString('hex')}`;
const dataDir = path.join(temporaryFolder(), 'data');
const keyFile = path.join(dataDir, 'encryption-key');
const settings = {
  TRADEWIND_DATA_DIR: dataDir,
  TRADEWIND_BOOTSTRAP_TOKEN: TOKEN,
  TRADEWIND_SIMULATION_SPEED: '20',
  // Nothing listens there.
  TRADEWIND_WEBHOOK_ALLOW_HOSTS: '127.0.0.1:9',
};

let server: ServeProcess;
let http: HttpClient;
beforeAll(async () => {
  build();
  await start();
});
afterAll(async () => {
  await server?.end();
  fs.rmSync(path.dirname(dataDir), { recursive: true, force: true });
});

async function start(): Promise<void> {
  server = await serve(settings);
  http = createHttpClient(server.url, TOKEN);
}

/** The output of processes that have ended. */
let said = '';

async function stop(): Promise<void> {
  expect(await server.end()).toBe(0);
  said += server.stdout() + server.stderr();
}

/** Secrets of every kind, by a name for each. */
const known = new Map<string, string>();
let clusterConfig: string;

describe('secrets of each kind', () => {
  it('are made over HTTP', async () => {
    const secret = () => randomBytes(18).toString('base64url');
    const send = async (method: string, url: string, body: object) => {
      const headers = { 'idempotency-key': secret() };
      const answer = await http.request(method, url, { body, headers });
      expect(answer.status, answer.text).toBeLessThan(300);
      return answer.body;
    };
    const key = await send('POST', '/cloud/v1/ssh_keys/1', { name: 'secrets' });
    known.set('private key of SSH', key.private_key);

    const [cluster] = await send('POST', '/cloud/v1/k8s/clusters/1/1', {
      name: 'secrets',
      version: 'v1.32.13',
      keypair: 'secrets',
      pools: [{ name: 'gpu', flavor_id: 'bm3-ai-8xlarge-gpu-h100-8', min_node_count: 1 }],
    });
    expect(await http.task(cluster)).toMatchObject({ state: 'FINISHED' });
    const { body: authority } = await http.get('/cloud/v1/k8s/clusters/1/1/secrets/certificates');
    known.set('key of the cluster authority', authority.key);
    const { body: config } = await http.get('/cloud/v1/k8s/clusters/1/1/secrets/config');
    known.set('key of the cluster administrator', Buffer.from(config.client_key, 'base64').toString());
    clusterConfig = config.config;

    const machine = {
      flavor: 'g1-standard-1-2',
      interfaces: [{ type: 'external' }],
      volumes: [BOOT_VOLUME],
    };
    const [password, userData] = [secret(), Buffer.from(`#!/bin/sh\n# ${secret()}\n`).toString('base64')];
    known.set('password of a machine', password);
    known.set('user data of a machine', userData);
    for (const [name, more] of Object.entries({ a: { password }, b: { user_data: userData } })) {
      const { tasks } = await send('POST', '/gcore/cloud/v2/instances/1/1', {
        name: `machine-${name}`,
        ...machine,
        ...more,
      });
      expect(await http.task(tasks[0])).toMatchObject({ state: 'FINISHED' });
    }

    const bundle = await tlsBundle();
    known.set('key of a certificate', bundle.private_key);
    const stored = await send('POST', '/cloud/v2/secrets/1/1', { name: 'web', payload: bundle });
    expect(await http.task(stored[0])).toMatchObject({ state: 'FINISHED' });
    const bytes = randomBytes(32);
    known.set('stored bytes', bytes.toString('base64url'));
    const other = await send('POST', '/cloud/v1/secrets/1/1', {
      name: 'AES key',
      secret_type: 'symmetric',
      payload: bytes.toString('base64'),
      payload_content_encoding: 'base64',
      payload_content_type: 'application/octet-stream',
    });
    expect(await http.task(other[0])).toMatchObject({ state: 'FINISHED' });

    const header = `Bearer ${secret()}`;
    known.set('header of a subscription', header);
    const subscription = { url: 'http://127.0.0.1:9', auth_header_name: 'Authorization' };
    await send('POST', '/cloud/v1/user_actions/subscribe', { ...subscription, auth_header_value: header });

    const webhook = await send('POST', '/tradewind/v1/webhooks', {
      url: 'http://127.0.0.1:9',
      types: ['*'],
    });
    known.set('former secret of a webhook', webhook.secret.slice('whsec_'.length));
    const rotated = await send('POST', `/tradewind/v1/webhooks/${webhook.id}/rotate_secret`, {});
    known.set('secret of a webhook', rotated.secret.slice('whsec_'.length));

    const token = await send('POST', '/iam/v2/clients/1/tokens', {
      name: 'secrets',
      exp_date: null,
      client_user: { role: { id: 1 } },
    });
    known.set('API token', token.token.split('_')[1]);
    known.set('first API token', TOKEN.split('_')[1] ?? '');
    const person = await newPerson(http);
    known.set('password of a person', person.password);
    known.set('access token', person.pair.access.split('.')[2] ?? '');
    known.set('refresh token', person.pair.refresh.split('.')[2] ?? '');
    const invited = await invite({ http, clientId: 1 }, 'guest@example.com');
    known.set('invitation token', invited.invitation_token.split('_')[2] ?? '');

    await send('PATCH', '/cloud/v1/laas/1/1/status', { is_initialized: true });
    const broker = await http.post('/cloud/v1/laas/1/1/users');
    expect(broker.status, broker.text).toBe(200);
    known.set('password for log brokers', broker.body.password);
    known.set('signing key', await signingKey());
    expect([...known.values()].filter((text) => text.length < 16)).toEqual([]);
  });

  it('are in no file of the database', async () => {
    const superuser = new pg.Client({ ...runningEmbedded(dataDir), user: 'postgres' });
    await superuser.connect();
    await superuser.query('checkpoint');
    await superuser.end();
    const running = findings();
    await stop();
    const stopped = findings();
    await start();
    expect({ running, stopped }).toEqual({ running: [], stopped: [] });
  });

  it('are in no row of the database, also where its files compress them', async () => {
    const found = await atDatabase(async ({ pool }) => {
      const { rows: tables } = await pool.query<{ name: string }>(
        `select oid::regclass::text as name from pg_class where relkind in ('r', 'p', 'm') and relnamespace = 'public'::regnamespace`,
      );
      expect(tables.length).toBeGreaterThan(50);
      const texts = await Promise.all(
        tables.map(async ({ name }) => {
          const { rows } = await pool.query<{ text: string }>(`select at::text as text from ${name} as at`);
          return namesIn(Buffer.from(rows.map(({ text }) => text).join('\n'))).map((what) => `${name}: ${what}`);
        }),
      );
      return texts.flat();
    });
    expect(found).toEqual([]);
  });

  it('are in no line of the log', () => {
    expect(said).toContain('encryption-key');
    expect(namesIn(Buffer.from(said))).toEqual([]);
  });

  it('is what a search of files finds', () => {
    const file = path.join(dataDir, 'postgres', 'left-behind');
    fs.writeFileSync(file, `x${JSON.stringify({ key: known.get('key of the cluster authority') })}y`);
    expect(findings()).toEqual(['left-behind: key of the cluster authority']);
    fs.rmSync(file);
  });
});

describe('the encryption key', () => {
  const doctor = () =>
    runTradewind(['doctor'], settings)
      .stdout.split('\n')
      .find((line) => line.includes('Encryption key'));

  it('is made on the first start, for this user alone', () => {
    expect(fs.statSync(keyFile).mode & 0o777).toBe(0o600);
    expect(server.stderr()).not.toContain(fs.readFileSync(keyFile, 'utf8').trim());
    expect(doctor()).toMatch(
      new RegExp(`^ok +Encryption key: [0-9a-f]{16}, in ${keyFile}. If it is lost, so are the keys`),
    );
  });

  it('changes while Tradewind runs, and everything can be read before and after the next start', async () => {
    const former = fs.readFileSync(keyFile, 'utf8');
    const rotated = runTradewind(['keys', 'rotate', '--new-key'], settings);
    expect(rotated.stderr).toBe('');
    expect(rotated.stdout).toMatch(/^\d+ secrets are encrypted with a new data key\.\n.* still has the former keys/);
    const config = async () => (await http.get('/cloud/v1/k8s/clusters/1/1/secrets/config')).body.config;
    expect(await config()).toBe(clusterConfig);
    await newPerson(http);
    fs.writeFileSync(keyFile, fs.readFileSync(keyFile, 'utf8').replace(former, ''));
    await stop();
    await start();
    expect(await config()).toBe(clusterConfig);
    await newPerson(http);
  });

  it('is never made a second time, and another one starts nothing', async () => {
    await stop();
    const kept = fs.readFileSync(keyFile);
    fs.rmSync(keyFile);
    const without = runTradewind(['serve'], settings);
    expect(fs.existsSync(keyFile)).toBe(false);
    expect(without.status).toBe(78);
    expect(without.stderr).toMatch(/encrypted with encryption key [0-9a-f]{16}, but this process has none/);
    expect(without.stderr).toContain('TRADEWIND_ENCRYPTION_KEY_FILE');
    const wrong = { ...settings, TRADEWIND_ENCRYPTION_KEY: randomBytes(32).toString('base64') };
    const other = runTradewind(['serve'], wrong);
    expect(other.status).toBe(78);
    expect(other.stderr).toMatch(/, but this process has [0-9a-f]{16} \(TRADEWIND_ENCRYPTION_KEY\)/);
    expect(other.stderr).not.toContain(wrong.TRADEWIND_ENCRYPTION_KEY);
    fs.writeFileSync(keyFile, kept, { mode: 0o600 });
    await start();
  });

  it('can be given up, with what nobody can read then', async () => {
    await stop();
    fs.rmSync(keyFile);
    expect(runTradewind(['keys', 'give-up'], settings).stdout).toContain('kubernetes_credentials.ca_key  1');
    expect(runTradewind(['keys', 'give-up', '--yes'], settings).status).toBe(0);
    await start();
    expect((await http.get('/cloud/v1/k8s/clusters/1/1/secrets')).status).toBe(200);
    expect((await http.get('/cloud/v1/k8s/clusters/1/1/secrets/config')).status).toBe(404);
    await newPerson(http);
  });
});

async function atDatabase<T>(work: (database: Database) => Promise<T>): Promise<T> {
  const database = openDatabase(runningEmbedded(dataDir) ?? {}, 2);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** Returns the private part of the signing key, which no answer contains. */
function signingKey(): Promise<string> {
  return atDatabase(async ({ sql }) => {
    const encryptionKeys = encryptionKeysOf({
      encryptionKey: undefined,
      encryptionKeyFile: keyFile,
      encryptionKeyFileNamed: true,
    });
    const { id, jwk } = await sql.selectFrom('signing_keys').selectAll().executeTakeFirstOrThrow();
    const secrets = createSecrets({ sql, encryptionKeys });
    return (await secrets.open<{ d: string }>('signing_keys.jwk', [id], jwk)).d;
  });
}

/** Returns which secrets are found in the database's files, including its write-ahead log and server log. */
function findings(): string[] {
  const folder = path.join(dataDir, 'postgres');
  const files = fs.readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  expect(files.filter(({ parentPath }) => parentPath.endsWith('pg_wal')).length).toBeGreaterThan(0);
  const paths = files.map(({ parentPath, name }) => path.join(parentPath, name));
  return [...paths, path.join(dataDir, 'postgres.log')].flatMap((file) =>
    namesIn(fs.readFileSync(file)).map((what) => `${path.relative(folder, file)}: ${what}`),
  );
}

function namesIn(content: Buffer): string[] {
  return [...known].flatMap(([what, text]) => (formsOf(text).some((form) => content.includes(form)) ? [what] : []));
}

const forms = new Map<string, Buffer[]>();

/**
 * Returns the text as it is, line by line, in JSON, in base64 at any offset, in hexadecimal, and the bytes
 * that it encodes.
 */
function formsOf(text: string): Buffer[] {
  const found = forms.get(text);
  if (found) return found;
  const lines = text.split('\n').filter((line) => line.length >= 16 && !line.startsWith('-----'));
  const bytes = text.includes('BEGIN PRIVATE KEY')
    ? createPrivateKey(text).export({ format: 'der', type: 'pkcs8' })
    : Buffer.from(text, 'base64url');
  const base64 = [0, 1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift), Buffer.from(text)])
      .toString('base64')
      .slice(4, -4),
  );
  const made = [text, ...lines, JSON.stringify(text).slice(1, -1), ...base64, Buffer.from(text).toString('hex'), bytes];
  const buffers = made.map((form) => Buffer.from(form));
  forms.set(text, buffers);
  return buffers;
}
