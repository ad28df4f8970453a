import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHttpClient, type HttpClient } from '../../test/support/http-client.ts';
import { startService, type TestService } from '../../test/support/service.ts';
import { makeResource } from './apply.ts';
import type { Requests } from './requests.ts';

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
const [, ACME = ''] = /```yaml\n(clients:\n[\s\S]*?)```/.exec(fs.readFileSync('docs/testers.md', 'utf8')) ?? [];
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
  });
  afterAll(() => service.stop());

  const changes = async () =>
    (await service.pool.query('select count(*)::int from user_actions where outcome = $1', ['accepted'])).rows[0].count;
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
    // The other network may have a subnet of the same name.
    const more = `${ACME}          - createVolume: {name: more, source: new-volume, size: 1}
          - createNetwork: {name: other, create_router: false}
          - createSubnet: {name: private, network_id: $networks/other, cidr: 10.51.0.0/24}\n`;
    for (const _ of ['third', 'fourth']) {
      const next = await startService({ ...again, TRADEWIND_SEED: seedFile(more) });
      await next.stop();
      expect(await changes()).toBe(before + 3);
    }
    const [{ id }] = (await http.get('/cloud/v1/projects?name=Default')).body.results;
    expect(await namesAt(`/cloud/v1/volumes/${id}/1`)).toEqual(['more']);
    expect(await namesAt(`/cloud/v1/volumes/${id}/2`)).toEqual(['data']);
    expect(await namesAt(`/cloud/v1/subnets/${id}/1`)).toEqual(['default', 'private', 'private']);
  });

  it('leaves a suspended account alone, and makes a deleted one anew', async () => {
    const { id } = (await http.get('/iam/clients/me')).body;
    // Each start has another token for the platform administrator.
    const startAgain = (text: string) =>
      startService({
        DATABASE_URL: service.pool.options.connectionString ?? '',
        ACME_TOKEN: TOKEN,
        TRADEWIND_SEED: seedFile(text),
      });
    const second = await startAgain(ACME);
    const suspended = await second.http.post(`/tradewind/v1/clients/${id}/suspend`);
    expect(suspended.body).toMatchObject({ id, status: 'paused' });
    await second.stop();
    const third = await startAgain(`${ACME}          - createSshKey: {name: another}\n`);
    expect((await service.pool.query(`select from ssh_keys where name = 'another'`)).rows).toEqual([]);

    const deletion = `/tradewind/v1/clients/${id}/deletion`;
    const { confirmation } = (await third.http.post(deletion, {})).body;
    const { task_id } = (await third.http.post(deletion, { confirmation })).body;
    expect(await third.http.task(task_id, 60_000)).toMatchObject({ state: 'FINISHED' });
    await third.stop();
    const fourth = await startAgain(ACME);
    const me = (await createHttpClient(fourth.url, TOKEN).get('/iam/clients/me')).body;
    await fourth.stop();
    expect(me).toMatchObject({ companyName: 'Acme' });
    expect(me.id).not.toBe(id);
  });
});

it('finds what is far down in a list', async () => {
  const asked: string[] = [];
  const requests: Requests = {
    operations: new Map([['createSshKey', { method: 'POST', path: '/cloud/v1/ssh_keys/{project_id}' }]]),
    hasList: () => true,
    async get(url) {
      asked.push(url);
      const many = Array.from({ length: 1_000 }, (_, id) => ({ id, name: `key-${id}` }));
      return { results: url.endsWith('offset=0') ? many : [{ id: 1_000, name: 'wanted' }] };
    },
    post: () => expect.fail('it is there'),
  };
  const seed = { content: { clients: [] }, fault: () => expect.fail() };
  const place = { projectId: 1, regionId: 1, authorization: '' };
  await makeResource({ seed, requests }, place, { createSshKey: { name: 'wanted' } }, []);
  expect(asked).toEqual([0, 1_000].map((from) => `/cloud/v1/ssh_keys/1?limit=1000&offset=${from}`));
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
  ['clients:\n  - company: Acme\n    tokens:\n      - {name: CI, token: short}\n', ':4 clients.0.tokens.0.token: '],
  [
    'clients:\n  - company: Acme\n    tokens:\n      - {name: CI, role: Kings, token: 12_abcdefghijklmnop}\n',
    ':4 clients.0.tokens.0.role: there is no role Kings',
  ],
  [
    `clients:\n  - company: Acme\n    tokens:\n      - {name: CI, token: "\${NOWHERE}"}\n`,
    ':4 clients.0.tokens.0.token: the environment has no variable NOWHERE',
  ],
  ['clients:\n  - company: Acme\n    users:\n      - username: nobody\n        password: x\n', ':4 clients.0.users.0'],
  [inProject('createCastle: {name: x}'), ':6 clients.0.projects.0.resources.0.createCastle: is no operation'],
  [inProject('deleteVolume: {name: x}'), 'makes nothing in a project'],
  [inProject('createVolume: {source: new-volume, size: 1}'), 'needs a name'],
  [
    inProject('createVolume:\n              name: data\n              source: new-volume\n              size: none'),
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
  await expect(startService({ TRADEWIND_SEED: missing })).rejects.toThrow(`${missing} can't be read (ENOENT)`);
});
