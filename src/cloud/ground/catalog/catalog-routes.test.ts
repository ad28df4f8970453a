import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { borrowService, type TestService } from '../../../../test/support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await borrowService();
});
afterAll(() => service.stop());

const IMAGES = '/cloud/v1/images/1/1';
const PATHS = [
  '/cloud/v1/regions',
  '/cloud/v1/regions/1',
  '/cloud/v1/ddos/profile-templates/1',
  '/cloud/v1/laas/1/destination_regions',
];
const PROJECT_PATHS = [
  '/cloud/v1/flavors/1/1',
  IMAGES,
  `${IMAGES}/unknown`,
  '/cloud/v2/k8s/1/1/create_versions',
  '/cloud/v1/k8s/1/1/create_versions',
  '/cloud/v1/k8s/1/1/flavors',
];

async function results(path: string) {
  const { status, text, body } = await service.http.get(path);
  expect(status, text).toBe(200);
  return body.results;
}
const valuesOf = async (path: string, field: string) =>
  (await results(path)).map((item: Record<string, unknown>) => item[field]);

describe('access', () => {
  test('regions and their services are for everyone, the rest for owners of the project', async () => {
    const { http, projectId } = await service.otherTenant();
    for (const path of PATHS) expect((await http.get(path)).status, path).toBe(200);
    for (const path of PROJECT_PATHS) {
      const foreign = await http.get(path);
      expect(foreign.status, path).toBe(404);
      expect(foreign.body.message).toBe('Project 1 not found');
    }
    const own = await http.get(`/cloud/v1/flavors/${projectId}/1`);
    expect(own.status).toBe(200);
  });

  test.each([...PATHS.slice(1), ...PROJECT_PATHS])('%s in an unknown region is 404', async (path) => {
    const elsewhere = path.replace(/^(.*?\/)1(\/[a-z_]+)?$/, '$199$2').replace('/1/1', '/1/99');
    const { status, body } = await service.http.get(elsewhere);
    expect(status, elsewhere).toBe(404);
    expect(body.message).toBe('Region 99 not found');
  });

  test.each([...PATHS, ...PROJECT_PATHS])('%s refuses an unknown parameter', async (path) => {
    expect((await service.http.get(`${path}?colour=red`)).status).toBe(400);
  });
});

describe('regions', () => {
  test('newest first, or as asked for', async () => {
    expect(await valuesOf('/cloud/v1/regions', 'id')).toEqual([3, 2, 1]);
    expect(await valuesOf('/cloud/v1/regions?order_by=created_at.asc', 'id')).toEqual([1, 2, 3]);
    expect(await valuesOf('/cloud/v1/regions?order_by=display_name.asc', 'id')).toEqual([2, 1, 3]);
    expect(await valuesOf('/cloud/v1/regions?order_by=display_name.desc', 'id')).toEqual([3, 1, 2]);
  });

  test('by name in any case, by product, by page', async () => {
    expect(await valuesOf('/cloud/v1/regions?display_name=PORT%20halden', 'id')).toEqual([1]);
    expect(await valuesOf('/cloud/v1/regions?display_name=Port', 'id')).toEqual([]);
    expect(await valuesOf('/cloud/v1/regions?product=inference', 'id')).toEqual([1]);
    const page = await service.http.get('/cloud/v1/regions?limit=1&offset=1');
    expect(page.body).toMatchObject({ count: 3, results: [{ id: 2 }] });
    expect((await service.http.get('/cloud/v1/regions?offset=3')).body).toEqual({ count: 3, results: [] });
  });

  test('show their volume types only when asked', async () => {
    const plain = await service.http.get('/cloud/v1/regions/2');
    const shown = await service.http.get('/cloud/v1/regions/2?show_volume_types=true');
    expect(plain.body.available_volume_types).toBeNull();
    expect(shown.body).toEqual({
      ...plain.body,
      available_volume_types: ['standard', 'ssd_hiiops', 'ssd_lowlatency'],
    });
    expect(plain.body).not.toHaveProperty('backend');
    expect(await valuesOf('/cloud/v1/regions?show_volume_types=true&product=inference', 'id')).toEqual([1]);
  });

  test.each(['limit=0', 'limit=1001', 'offset=-1', 'order_by=id', 'product=cdn', 'show_volume_types=maybe'])(
    'refuse %s',
    async (query) => {
      const { status, body } = await service.http.get(`/cloud/v1/regions?${query}`);
      expect(status).toBe(400);
      expect(Object.keys(body.invalid_fields)).toEqual([query.split('=')[0]]);
    },
  );
});

describe('flavors', () => {
  test('for instances: withdrawn ones on demand, none of bare metal', async () => {
    const all = await valuesOf('/cloud/v1/flavors/1/1', 'flavor_id');
    const offered = await valuesOf('/cloud/v1/flavors/1/1?disabled=false', 'flavor_id');
    expect(all.filter((id: string) => !offered.includes(id))).toEqual(['g0-standard-2-4']);
    expect(all.filter((id: string) => id.startsWith('bm'))).toEqual([]);
    expect(await results('/cloud/v1/flavors/1/1?exclude_linux=true')).toEqual([]);
    expect(await valuesOf('/cloud/v1/flavors/1/1?exclude_windows=true', 'flavor_id')).toEqual(all);
    const page = await service.http.get('/cloud/v1/flavors/1/1?limit=2&offset=1');
    expect(page.body.count).toBe(all.length);
    expect(page.body.results.map((flavor: { flavor_id: string }) => flavor.flavor_id)).toEqual(all.slice(1, 3));
  });

  test('with prices only when asked for', async () => {
    const [plain] = await results('/cloud/v1/flavors/1/1');
    const [priced] = await results('/cloud/v1/flavors/1/1?include_prices=true');
    expect(plain).not.toHaveProperty('price_status');
    // The price book has 0.012 EUR; tax is 17 %.
    expect(priced).toEqual({
      ...plain,
      currency_code: 'EUR',
      price_per_hour: 0.01404,
      price_per_month: 10.1088,
      price_status: 'show',
    });
  });

  test('for Kubernetes: bare metal and GPUs among them', async () => {
    const path = '/cloud/v1/k8s/1/1/flavors';
    const all = await valuesOf(path, 'flavor_id');
    expect(all).toContain('bm1-infra-medium');
    expect(all).not.toContain('g1-standard-1-2');
    const withoutGpu = await valuesOf(`${path}?exclude_gpu=true&include_capacity=true`, 'flavor_id');
    expect(all.filter((id: string) => !withoutGpu.includes(id)).every((id: string) => id.includes('gpu'))).toBe(true);
    expect(withoutGpu.length).toBeLessThan(all.length);
    const priced = await results(`${path}?include_prices=true&limit=1`);
    // The price book has 0.024 EUR; tax is 17 %.
    expect(priced).toMatchObject([{ price_per_hour: 0.02808, price_status: 'show' }]);
  });
});

describe('images', () => {
  test('in display order, and one by its id', async () => {
    const all = await results(IMAGES);
    const orders = all.map((image: { display_order: number }) => image.display_order);
    expect(orders).toEqual(orders.toSorted((a: number, b: number) => a - b));
    const one = await service.http.get(`${IMAGES}/${all[0].id}`);
    expect(one.body).toEqual(all[0]);
    expect(one.body).toMatchObject({ project_id: 1, region_id: 1, visibility: 'public', price_status: null });
    expect((await service.http.get(`${IMAGES}/${all[0].id}?include_prices=true`)).body).toMatchObject({
      price_status: 'show',
      price_per_hour: 0,
      currency_code: 'EUR',
    });
    expect((await service.http.get(`${IMAGES}/unknown`)).status).toBe(404);
  });

  test('by every parameter', async () => {
    const all = await results(IMAGES);
    const [{ name, os_distro: distro, os_version: version, architecture }] = all;
    const same = (field: string, value: string) =>
      all.filter((image: Record<string, unknown>) => image[field] === value);
    expect(await results(`${IMAGES}?name=${encodeURIComponent(name.slice(1).toUpperCase())}`)).toContainEqual(all[0]);
    expect(await results(`${IMAGES}?os_distro=${distro.toUpperCase()}`)).toEqual(same('os_distro', distro));
    expect(await results(`${IMAGES}?os_version=${version}`)).toEqual(same('os_version', version));
    expect(await results(`${IMAGES}?architecture=${architecture}`)).toEqual(same('architecture', architecture));
    expect(await results(`${IMAGES}?visibility=public&limit=1&offset=1`)).toEqual(all.slice(1, 2));
    for (const query of ['visibility=private', 'private=true', 'tag_key=a', 'tag_key_value={"a":"b"}', 'name=zzz']) {
      expect(await results(`${IMAGES}?${query}`), query).toEqual([]);
    }
    expect((await service.http.get(`${IMAGES}?tag_key_value=nonsense`)).status).toBe(400);
  });
});

describe('Kubernetes versions', () => {
  test('are the same under both addresses, oldest first', async () => {
    const versions = await valuesOf('/cloud/v2/k8s/1/1/create_versions', 'version');
    expect(await valuesOf('/cloud/v1/k8s/1/1/create_versions', 'version')).toEqual(versions);
    const minors = new Set(versions.map((version: string) => version.split('.')[1]));
    expect([...minors]).toEqual(['31', '32', '33', '34', '35']);
    expect(await valuesOf('/cloud/v2/k8s/1/1/create_versions?limit=2&offset=1', 'version')).toEqual(
      versions.slice(1, 3),
    );
  });

  test('there are none, and no flavors, where there is no Kubernetes', async () => {
    expect(await results('/cloud/v2/k8s/1/3/create_versions')).toEqual([]);
    expect(await results('/cloud/v1/k8s/1/3/flavors')).toEqual([]);
  });
});

describe('services of a region', () => {
  test('DDoS templates have fields with a schema of their value', async () => {
    const templates = await results('/cloud/v1/ddos/profile-templates/1');
    const fields = templates.flatMap((template: { fields: object[] }) => template.fields);
    expect(fields).toContainEqual(
      expect.objectContaining({
        required: true,
        validation_schema: expect.objectContaining({
          type: 'array',
          items: expect.objectContaining({ type: 'integer', minimum: expect.any(Number) }),
        }),
      }),
    );
    expect(await results('/cloud/v1/ddos/profile-templates/3')).toEqual([]);
    expect(await results('/cloud/v1/ddos/profile-templates/1?limit=1&offset=1000')).toEqual([]);
  });

  test('logging destinations, and a refusal where there is no logging', async () => {
    expect((await service.http.get('/cloud/v1/laas/1/destination_regions')).body).toEqual({
      count: 2,
      results: [
        { region_id: 1, region_name: 'Port Halden' },
        { region_id: 2, region_name: 'Cape Merrin' },
      ],
    });
    const refused = await service.http.get('/cloud/v1/laas/3/destination_regions');
    expect(refused.status).toBe(400);
    expect(refused.body).toEqual({
      code: 400,
      message: expect.stringContaining("Sable Reach doesn't offer logging"),
    });
  });
});

test('the OpenAPI document has no keyword that JSON Schema does not know', async () => {
  for (const base of ['', '/gcore']) {
    const { status, text } = await service.anonymous.get(`${base}/openapi.json`);
    expect(status).toBe(200);
    expect(text).toContain('"pattern"');
    expect(text).not.toContain('"rule":"');
  }
});
