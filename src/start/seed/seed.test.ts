import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHttpClient, type HttpClient } from '../../../test/support/http-client.ts';
import { startService, type TestService } from '../../../test/support/service.ts';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tradewind-seed-'));
afterAll(() => fs.rmSync(folder, { recursive: true }));

let files = 0;
function seedFile(text: string): string {
  const file = path.join(folder, `seed-${files++}.yaml`);
  fs.writeFileSync(file, text);
  return file;
}

const TOKEN = '12_the-token-of-acme-for-ci';
/** That of the documents. */
const [, ACME = ''] =
  /```yaml\n(clients:\n[\s\S]*?)```/.exec(fs.readFileSync('docs/test-kit.md', 'utf8')) ?? [];
const MORE = `    projects:
      - name: web
        description: For tests
        resources:
          - createSecurityGroup: {security_group: {name: web servers, description: $$5 a month}}
  - company: Second
    tokens:
      - {name: Readers, role: Users, token: 13_another-token-for-tests}
`;

describe('a seed', () => {
  let service: TestService;
  let http: HttpClient;
  const file = seedFile(ACME + MORE.replace(/^ {4}projects:\n/, ''));
  beforeAll(async () => {
    service = await startService({ TRADEWIND_SEED: file, ACME_TOKEN: TOKEN });
    http = createHttpClient(service.url, TOKEN);
  }, 60_000);
  afterAll(() => service.stop());

  const changes = async () =>
    (await service.pool.query('select count(*)::int from user_actions where outcome = $1', ['accepted']))
      .rows[0].count;
  const namesAt = async (at: string): Promise<string[]> =>
    (await http.get(at)).body.results.map(({ name }: { name: string }) => name).sort();

  it('makes what it names, ready for use', async () => {
    const me = await http.get('/iam/clients/me');
    expect(me.body).toMatchObject({ companyName: 'Acme' });
    const login = { username: 'dev@acme.example', password: 'correct horse battery' };
    expect((await service.anonymous.post('/iam/auth/jwt/login', login)).status).toBe(200);
    const reader = createHttpClient(service.url, '13_another-token-for-tests');
    expect((await reader.get('/iam/clients/me')).body).toMatchObject({ companyName: 'Second' });
    expect((await reader.post('/cloud/v1/projects', { name: 'not mine' })).status).toBe(403);
    const projects = (await http.get('/cloud/v1/projects?order_by=name.asc')).body.results;
    expect(projects).toMatchObject([{ name: 'Default' }, { name: 'web', description: 'For tests' }]);
    const [{ id: first }, { id: web }] = projects;
    expect(await namesAt(`/cloud/v1/ssh_keys/${first}`)).toEqual(['ci-key']);
    expect(await namesAt(`/cloud/v1/networks/${first}/1`)).toEqual(expect.arrayContaining(['private']));
    expect(await namesAt(`/cloud/v1/subnets/${first}/1`)).toEqual(['default', 'private']);
    expect((await http.get(`/cloud/v1/volumes/${first}/2`)).body.results).toMatchObject([
      { name: 'data', status: 'available' },
    ]);
    expect((await http.get(`/cloud/v1/securitygroups/${web}/1`)).body.results).toEqual(
      expect.arrayContaining([expect.objectContaining({ name: 'web servers', description: '$5 a month' })]),
    );
  });

  it('changes nothing when it is applied again, and adds what is missing then', async () => {
    const before = await changes();
    const again = { DATABASE_URL: service.pool.options.connectionString ?? '', ACME_TOKEN: TOKEN };
    const second = await startService({ ...again, TRADEWIND_SEED: file });
    await second.stop();
    expect(await changes()).toBe(before);
    const more = `${ACME}          - createVolume: {name: more, source: new-volume, size: 1}\n`;
    const third = await startService({ ...again, TRADEWIND_SEED: seedFile(more) });
    await third.stop();
    expect(await changes()).toBe(before + 1);
    const [{ id }] = (await http.get('/cloud/v1/projects?name=Default')).body.results;
    expect(await namesAt(`/cloud/v1/volumes/${id}/1`)).toEqual(['more']);
    expect(await namesAt(`/cloud/v1/volumes/${id}/2`)).toEqual(['data']);
  }, 60_000);
});

const inProject = (resource: string) => `clients:
  - company: Acme
    projects:
      - name: web
        resources:
          - ${resource}
`;

it.each([
  ['clients: [', ':1 '],
  ['clients:\n  - name: Acme\n', ':2 clients.0: '],
  [
    'clients:\n  - company: Acme\n    tokens:\n      - {name: CI, token: short}\n',
    ':4 clients.0.tokens.0.token: ',
  ],
  [
    'clients:\n  - company: Acme\n    tokens:\n      - {name: CI, role: Kings, token: 12_abcdefghijklmnop}\n',
    ':4 clients.0.tokens.0.role: there is no role Kings',
  ],
  [
    `clients:\n  - company: Acme\n    tokens:\n      - {name: CI, token: "\${NOWHERE}"}\n`,
    ':4 clients.0.tokens.0.token: the environment has no variable NOWHERE',
  ],
  [
    'clients:\n  - company: Acme\n    users:\n      - username: nobody\n        password: x\n',
    ':4 clients.0.users.0',
  ],
  [inProject('createCastle: {name: x}'), ':6 clients.0.projects.0.resources.0.createCastle: is no operation'],
  [inProject('deleteVolume: {name: x}'), 'makes nothing in a project'],
  [inProject('createVolume: {source: new-volume, size: 1}'), 'needs a name'],
  [
    inProject(
      'createVolume:\n              name: data\n              source: new-volume\n              size: none',
    ),
    ':9 clients.0.projects.0.resources.0.createVolume.size: ',
  ],
  [
    inProject('createSubnet: {name: x, network_id: $networks/nowhere, cidr: 10.0.0.0/24}'),
    ':6 clients.0.projects.0.resources.0.createSubnet.network_id: there is no nowhere among networks',
  ],
])(
  'refuses the start for %j, and says where',
  async (text, message) => {
    const file = seedFile(text);
    const starting = startService({ TRADEWIND_SEED: file });
    await expect(starting).rejects.toThrow(file + (message.startsWith(':') ? message : ''));
    await expect(starting).rejects.toThrow(message);
  },
  60_000,
);

it('refuses the start without its file', async () => {
  const missing = path.join(folder, 'missing.yaml');
  await expect(startService({ TRADEWIND_SEED: missing })).rejects.toThrow(
    `${missing} can't be read (ENOENT)`,
  );
});
