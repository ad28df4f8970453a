import fs from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { changedCatalog } from '../../../../test/support/catalogs.ts';
import { createHttpClient } from '../../../../test/support/http-client.ts';
import { startService, type TestService } from '../../../../test/support/service.ts';

const OUTSIDE = ['6a4d5a5e-5c0a-4c57-9f6f-0d6c1a8e4b21', '0d0fd3f7-6a3c-4a43-8f36-b3ae6a3ff0a5'];
const outside = OUTSIDE.map((id, index) => ({
  id,
  name: `outside ${index}`,
  prefixes: [{ cidr: `203.0.113.${index * 128}/25` }, { cidr: `2001:2:0:21:${index}::/80` }],
}));
const PATH = '/cloud/public/v1/ipranges/egress';

/** Region 3 has no external network, and region 33 has two. */
const folder = changedCatalog('regions.yaml', ({ regions = [] }) => {
  const [first, second, third] = regions as [object, object, object];
  const alike = { keystone_name: 'alike', slug: 'alike', display_name: 'Alike', keystone_id: 33 };
  return {
    regions: [
      first,
      second,
      { ...third, external_network_id: null, external_networks: [] },
      { ...first, ...alike, id: 33, external_network_id: OUTSIDE[0], external_networks: outside },
    ],
  };
});

let service: TestService;
beforeAll(async () => {
  service = await startService({ TRADEWIND_CATALOG_DIR: folder });
});
afterAll(async () => {
  await service.stop();
  fs.rmSync(folder, { recursive: true });
});

it('are those of the external networks, for everybody and each once', async () => {
  const { status, body, text } = await service.anonymous.get(PATH);
  expect(status, text).toBe(200);
  expect(body).toEqual({
    ranges: [
      ...['198.18.16.0/20', '198.18.32.0/20', '203.0.113.0/25', '203.0.113.128/25'],
      ...['2001:2:0:1::/64', '2001:2:0:2::/64', '2001:2:0:21::/80', '2001:2:0:21:1::/80'],
    ],
  });
  const { http } = await service.otherTenant();
  const wrong = createHttpClient(service.url, '1_of-nobody');
  for (const client of [service.http, http, wrong]) expect((await client.get(PATH)).body).toEqual(body);
  expect((await service.anonymous.get(`/gcore${PATH}`)).body).toEqual(body);
});

it('contain the addresses that lead outside, and none of the own networks', async () => {
  const made = await service.http.post('/cloud/v1/floatingips/1/1', {});
  await service.http.task(made.body[0]);
  const [floating] = (await service.http.get('/cloud/v1/floatingips/1/1')).body.results;
  const { rows } = await service.pool.query(
    'select bool_or($1::inet << range) as inside from unnest($2::cidr[]) as range',
    [floating.floating_ip_address, (await service.anonymous.get(PATH)).body.ranges],
  );
  expect(rows[0].inside).toBe(true);
});
