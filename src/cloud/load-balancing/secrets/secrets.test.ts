import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { borrowService, type TestService } from '../../../../test/support/service.ts';
import { asVersion1, issued, keyText, type TlsBundle, tlsBundle } from '../../../../test/support/tls-bundles.ts';
import { type Database, openDatabase } from '../../../db/database.ts';
import { letSecretsGo, type SecretWish, useSecrets } from './service.ts';

let service: TestService;
let database: Database;
let bundle: TlsBundle;
beforeAll(async () => {
  service = await borrowService();
  database = openDatabase(service.pool.options, 2);
  bundle = await tlsBundle();
});
afterAll(async () => {
  await database.close();
  await service.stop();
});

const V1 = '/cloud/v1/secrets/1/1';
const V2 = '/cloud/v2/secrets/1/1';
const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const USER = { user_kind: 'listener', user_id: '6b3f9a52-0a0e-4b0f-8f5a-3c8a2b6d1e90' } as const;
const base64 = (text: string) => Buffer.from(text).toString('base64');
const opaque = (more: object = {}) => ({
  name: 'AES key',
  secret_type: 'symmetric',
  payload: base64('0123456789abcdef'),
  payload_content_encoding: 'base64',
  payload_content_type: 'application/octet-stream',
  ...more,
});

async function made(url: string, body: object, http = service.http): Promise<string> {
  const answer = await http.post(url, body);
  expect(answer.status, answer.text).toBe(200);
  const task = await http.task(answer.body[0]);
  expect(task).toMatchObject({ state: 'FINISHED', task_type: 'create_secret' });
  return task.created_resources.secrets[0];
}
const tls = (more: object = {}) => made(V2, { name: 'web #1', payload: bundle, ...more });

async function fieldsRefused(url: string, body: object): Promise<unknown> {
  const answer = await service.http.post(url, body);
  expect(answer.status, answer.text).toBe(400);
  return answer.body.invalid_fields;
}

describe('a certificate with its key', () => {
  it('is stored, listed, shown without its contents, and deleted', async () => {
    const id = await tls({ expiration: '2040-12-28T19:14:44.180394' });
    const shown = await service.http.get(`${V1}/${id}`);
    expect(shown.body).toEqual({
      id,
      name: 'web #1',
      secret_type: 'certificate',
      status: 'ACTIVE',
      algorithm: null,
      bit_length: null,
      mode: null,
      content_types: { default: 'application/octet-stream' },
      created: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/),
      expiration: '2040-12-28T19:14:44+00:00',
    });
    const list = await service.http.get(`${V1}?limit=1`);
    expect(list.body.results).toEqual([shown.body]);
    expect(list.body.count).toBeGreaterThanOrEqual(1);
    const { rows } = await service.pool.query(`select spec from wants where id = $1`, [id]);
    expect(rows[0].spec).toEqual({
      name: 'web #1',
      type: 'certificate',
      secrets: { certificate: true, certificate_chain: true, private_key: true },
      expiresAt: '2040-12-28T19:14:44Z',
    });
    const removal = await service.http.delete(`${V1}/${id}`);
    expect(await service.http.task(removal.body[0])).toMatchObject({
      state: 'FINISHED',
      task_type: 'delete_secret',
      data: { secret_id: id },
    });
    expect((await service.http.get(`${V1}/${id}`)).status).toBe(404);
    expect((await service.pool.query('select from want_secrets where want_id = $1', [id])).rowCount).toBe(0);
  });

  it('may have an old root in its chain, and what belongs to nothing', async () => {
    const root = await issued({ name: 'Old root', from: -9, to: -1 });
    const leaf = await issued({ name: 'localhost', by: root, ca: false });
    const chain = [asVersion1(root), asVersion1(await issued({ name: 'Other', to: 0 }))];
    const payload = {
      certificate: leaf.pem,
      certificate_chain: chain.join(''),
      private_key: await keyText(leaf),
    };
    await tls({ payload });
    expect(await fieldsRefused(V2, { name: 'x', payload: { ...payload, certificate_chain: chain[1] } })).toHaveProperty(
      'payload.certificate_chain',
    );
  });

  it('is refused with the field that is wrong', async () => {
    const other = await tlsBundle('other.example.com');
    const mixed = { ...bundle, private_key: other.private_key };
    expect(await fieldsRefused(V2, { name: 'x', payload: mixed })).toEqual({
      'payload.private_key': ['Is not the key of the certificate.'],
    });
    const past = { name: 'x', payload: bundle, expiration: '2020-01-01T00:00:00Z' };
    expect(await fieldsRefused(V2, past)).toEqual({ expiration: ['Must be in the future.'] });
    const never = { name: 'x', payload: bundle, expiration: '2040-02-31T00:00:00Z' };
    expect(await fieldsRefused(V2, never)).toHaveProperty('expiration');
    const { certificate_chain: _, ...chainless } = bundle;
    expect(await fieldsRefused(V2, { name: 'x', payload: chainless })).toHaveProperty('payload.certificate_chain');
    expect(await fieldsRefused(V2, { name: '', payload: bundle })).toHaveProperty('name');
  });
});

describe('any other secret', () => {
  it('is kept as it is, with what its owner notes about it', async () => {
    const id = await made(V1, opaque({ algorithm: 'aes', bit_length: 128, mode: 'cbc' }));
    expect((await service.http.get(`${V1}/${id}`)).body).toMatchObject({
      secret_type: 'symmetric',
      algorithm: 'aes',
      bit_length: 128,
      mode: 'cbc',
      expiration: null,
    });
  });

  it.each([
    ['text that is not base64', { payload: 'a&b=' }, 'payload'],
    ['base64 with a loose end', { payload: 'aGVsbG8' }, 'payload'],
    ['much', { payload: Buffer.alloc(20_001).toString('base64') }, 'payload'],
    ['a text with base64', { payload_content_type: 'text/plain' }, 'payload_content_type'],
    ['another encoding', { payload_content_encoding: 'hex' }, 'payload_content_encoding'],
    ['an unknown type', { secret_type: 'password' }, 'secret_type'],
    ['no bits', { bit_length: 0 }, 'bit_length'],
    ['a certificate that is none', { secret_type: 'certificate' }, 'payload'],
    [
      'a certificate in DER format that is none',
      { secret_type: 'certificate', payload: Buffer.from('30030101ff', 'hex').toString('base64') },
      'payload',
    ],
  ])('refuses %s', async (_, change, field) => {
    expect(await fieldsRefused(V1, opaque(change))).toHaveProperty(field);
  });

  it('of type certificate is one or more, in PEM or DER format, and valid', async () => {
    const certificate = (text: string | Buffer) =>
      opaque({ secret_type: 'certificate', payload: Buffer.from(text).toString('base64') });
    const root = await issued({ name: 'Root' });
    await made(V1, certificate(root.pem));
    await made(V1, certificate(bundle.certificate_chain));
    await made(V1, certificate(Buffer.from(root.certificate.rawData)));
    const old = await issued({ name: 'Root', from: -9, to: -1 });
    expect(await fieldsRefused(V1, certificate(old.pem))).toEqual({
      payload: [expect.stringContaining('expired')],
    });
  });

  describe('of type certificate can be a PKCS #12 file', () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'pkcs12-'));
    afterAll(() => fs.rmSync(folder, { recursive: true }));

    /** As the published contract says that such files are made. */
    function pkcs12({ certificate, certificate_chain, private_key }: TlsBundle, ...more: string[]): string {
      const files = {
        'server.crt': certificate,
        'ca-chain.crt': certificate_chain,
        'server.key': private_key,
      };
      for (const [name, text] of Object.entries(files)) fs.writeFileSync(path.join(folder, name), text);
      const given = 'pkcs12 -export -inkey server.key -in server.crt -certfile ca-chain.crt'.split(' ');
      return execFileSync('openssl', [...given, ...(more.length > 0 ? more : ['-passout', 'pass:'])], {
        cwd: folder,
        stdio: ['ignore', 'pipe', 'ignore'],
      }).toString('base64');
    }
    const certificate = (payload: string) => opaque({ secret_type: 'certificate', payload });
    const holds = async (id: string) =>
      (await service.pool.query('select holds from secrets where id = $1', [id])).rows[0].holds;

    it('that a server can use', async () => {
      expect(await holds(await made(V1, certificate(pkcs12(bundle))))).toBe('tls');
      expect(await holds(await made(V1, { ...certificate(pkcs12(bundle)), secret_type: 'opaque' }))).toBe('tls');
    });

    it('and no other', async () => {
      const because = async (payload: string) => {
        const { payload: texts } = (await fieldsRefused(V1, certificate(payload))) as { payload: string[] };
        return texts[0];
      };
      expect(await because(pkcs12(bundle, '-passout', 'pass:secret'))).toContain('no passphrase');
      expect(await because(pkcs12(bundle, '-passout', 'pass:', '-nokeys'))).toContain('its key');
      expect(await because(pkcs12(bundle).slice(0, 400))).toContain('no server can use');
      const leaf = await issued({ name: 'old.example.com', from: -9, to: -1, ca: false });
      const old = { certificate: leaf.pem, certificate_chain: leaf.pem, private_key: await keyText(leaf) };
      expect(await because(pkcs12(old))).toContain('CN=old.example.com expired');
      const locked = opaque({ secret_type: 'opaque', payload: pkcs12(bundle, '-passout', 'pass:x') });
      expect(await holds(await made(V1, locked))).toBe('bytes');
    });
  });
});

describe('whoever uses a secret', () => {
  const use = (wishes: SecretWish[], now = new Date()) =>
    database.transaction((tx) => useSecrets({ ...tx, now }, { projectId: 1, regionId: 1 }, USER, wishes));
  const wish = (id: string, holds: SecretWish['holds'] = 'tls') => ({ field: 'secret_id', id, holds });

  it('keeps it from being deleted', async () => {
    const [id, other] = [await tls(), await tls()];
    await use([wish(id), wish(other)]);
    const refused = await service.http.delete(`${V1}/${id}`);
    expect([refused.status, refused.body.message]).toEqual([
      409,
      `Secret ${id} is in use by listener ${USER.user_id}; give them another secret or delete them first`,
    ]);
    await use([wish(other.toUpperCase())]);
    expect((await service.http.delete(`${V1}/${id}`)).status).toBe(200);
    expect((await service.http.delete(`${V1}/${other}`)).status).toBe(409);
    await database.transaction((tx) => letSecretsGo(tx, [USER]));
    expect((await service.http.delete(`${V1}/${other}`)).status).toBe(200);
  });

  it('can only use one that is there, holds what is needed, has not expired and is not being deleted', async () => {
    const [id, bytes] = [await tls({ expiration: '2040-01-01T00:00:00Z' }), await made(V1, opaque())];
    const refused = async (wishes: SecretWish[], now?: Date) =>
      use(wishes, now).then(
        () => undefined,
        (error) => error.fields ?? error.message,
      );
    expect(await refused([wish(UNKNOWN)])).toEqual({ secret_id: [expect.stringContaining('No secret')] });
    expect(await refused([wish('x')])).toEqual({ secret_id: [expect.stringContaining('No secret')] });
    expect(await refused([wish(bytes)])).toEqual({
      secret_id: [`Secret ${bytes} does not hold a certificate with its key.`],
    });
    expect(await refused([wish(id, 'certificates')])).toHaveProperty('secret_id');
    expect(await refused([wish(bytes, 'bytes')])).toBeUndefined();
    const late = new Date('2041-01-01T00:00:00Z');
    expect(await refused([wish(id)], late)).toEqual({
      secret_id: [`Secret ${id} expired at 2040-01-01T00:00:00Z.`],
    });
    expect(await refused([wish(id)])).toBeUndefined();
    expect(await refused([wish(id)], late)).toBeUndefined();
    await database.transaction((tx) => letSecretsGo(tx, [USER]));
    await service.pool.query('update secrets set task_id = gen_random_uuid() where id = $1', [id]);
    expect(await refused([wish(id)])).toContain('is held by task');
    const place = { projectId: 2, regionId: 1 };
    const elsewhere = database.transaction((tx) => useSecrets(tx, place, USER, [wish(bytes, 'bytes')]));
    await expect(elsewhere).rejects.toThrow('No secret');
  });
});

it('counts', async () => {
  const used = async () =>
    (await service.pool.query(`select used from quota_usage where client_id = 1 and attribute = 'secret_count'`))
      .rows[0].used;
  const before = Number(await used());
  const id = await tls();
  expect(Number(await used())).toBe(before + 1);
  const { body } = await service.http.delete(`${V1}/${id}`);
  expect((await service.http.delete(`${V1}/${id}`)).status).toBe(409);
  await service.http.task(body[0]);
  expect(Number(await used())).toBe(before);
});

it('is refused for readers, strangers and everybody else', async () => {
  const id = await tls();
  const reader = await service.withRole('Users');
  expect((await reader.get(`${V1}/${id}`)).status).toBe(200);
  expect((await reader.delete(`${V1}/${id}`)).status).toBe(403);
  expect((await reader.post(V2, { name: 'x', payload: bundle })).status).toBe(403);
  expect((await reader.post(V1, opaque())).status).toBe(403);
  const other = await service.otherTenant();
  for (const http of [other.http, service.anonymous]) {
    const status = http === service.anonymous ? 401 : 404;
    expect((await http.get(V1)).status).toBe(status);
    expect((await http.get(`${V1}/${id}`)).status).toBe(status);
    expect((await http.delete(`${V1}/${id}`)).status).toBe(status);
    expect((await http.post(V1, opaque())).status).toBe(status);
    expect((await http.post(V2, { name: 'x', payload: bundle })).status).toBe(status);
  }
  expect((await other.http.get(`/cloud/v1/secrets/${other.projectId}/1/${id}`)).status).toBe(404);
  expect((await service.http.get(`/cloud/v1/secrets/1/2/${id}`)).status).toBe(404);
  expect((await service.http.delete(`${V1}/${UNKNOWN}`)).status).toBe(404);
  expect((await service.http.get(`${V1}/x`)).status).toBe(404);
});
