import { afterAll, beforeAll, expect, it } from 'vitest';
import { borrowService, type TestService } from '../../../../test/support/service.ts';

/** Region 1 has VAST shares, region 2 standard ones. */
const base = (region: number) => `/gcore/cloud/v1/file_shares/1/${region}`;
let service: TestService;
let network: { network_id: string };
beforeAll(async () => {
  service = await borrowService();
  const { body } = await service.http.get('/cloud/v1/networks/1/2');
  network = { network_id: body.results.find((row: { external: boolean }) => !row.external).id };
});
afterAll(() => service.stop());

const create = (region: number, body: object) =>
  service.http.post(base(region), { name: 'of a client', protocol: 'NFS', size: 13, ...body });
async function typeOf(region: number, body: object): Promise<unknown> {
  const made = await create(region, body);
  expect(made.status, made.text).toBe(200);
  const task = await service.http.task(made.body.tasks[0]);
  const share = await service.http.get(`${base(region)}/${task.created_resources.file_shares[0]}`);
  return [share.body.type_name, share.body.volume_type];
}

it('the older name of the kind is taken, alone and beside the newer one', async () => {
  const access = [{ ip_address: '10.100.100.0/24', access_mode: 'rw' }];
  const standard = ['standard', 'default_share_type'];
  expect(await typeOf(2, { volume_type: 'default_share_type', network, access })).toEqual(standard);
  expect(await typeOf(2, { volume_type: 'default_share_type', type_name: 'standard', network })).toEqual(standard);
  expect(await typeOf(1, { volume_type: 'vast_share_type', tags: {} })).toEqual(['vast', 'vast_share_type']);
});

it('tags may be called metadata, and are shown so as well', async () => {
  const made = await create(1, { metadata: { qqq: 'that' } });
  const task = await service.http.task(made.body.tasks[0]);
  const path = `${base(1)}/${task.created_resources.file_shares[0]}`;
  expect((await service.http.get(path)).body).toMatchObject({
    metadata: { qqq: 'that' },
    tags: [{ key: 'qqq', value: 'that', read_only: false }],
  });
  expect((await service.http.get(path.replace('/gcore', ''))).body).not.toHaveProperty('metadata');
});

it('neither name means standard', async () => {
  expect(await typeOf(2, { network })).toEqual(['standard', 'default_share_type']);
});

it.each([
  [1, { volume_type: 'vast_share_type', type_name: 'standard' }, ['volume_type']],
  [1, { volume_type: 'default_share_type' }, ['type_name']],
  [1, { volume_type: 'ddn_share_type' }, ['volume_type']],
  [2, {}, ['network']],
])('in region %i %j is refused', async (region, body, fields) => {
  const refused = await create(region, body);
  expect([refused.status, Object.keys(refused.body.invalid_fields)]).toEqual([400, fields]);
});

it('a kind that is left out is standard where a region has both', async () => {
  const { newShare } = await import('./new-share.ts');
  const region = { display_name: 'Both', file_share_types: ['vast', 'standard'] } as never;
  const share = { name: 'share', protocol: 'NFS', size: 1 } as const;
  expect(newShare({ ...share, network }, region).typeName).toBe('standard');
  expect(newShare({ ...share, share_settings: {} }, region).typeName).toBe('vast');
});
