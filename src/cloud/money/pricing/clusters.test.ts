import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clusterParts, GPU_POOL, makeCluster, POOL } from '../../../../test/support/clusters.ts';
import { borrowService, type TestService } from '../../../../test/support/service.ts';
import { clusterPrice } from './cluster-prices.ts';

const TERMS = {
  currency: 'EUR',
  taxPercent: '17',
  discount: '0.16',
  visibility: 'show',
  trial: false,
} as const;
const POOL_OF_THREE = {
  nodes: 3,
  machineHour: '0.024',
  bootVolume: { sizeGib: 50, gibHour: '0.00024' },
  publicAddress: { hour: '0.004' },
};

describe('the formula', () => {
  test('prices each part for all nodes, and adds the parts up exactly', () => {
    const bare = { nodes: 1, machineHour: '0.6', bootVolume: null, publicAddress: null };
    const price = clusterPrice(TERMS, [POOL_OF_THREE, bare]);
    // 0.84 x 1.17 = 0.9828 of each list price: 3 x 0.024, 0.6, 3 x 0.004 and 150 x 0.00024.
    expect(price.instances.map((part) => part.price_per_hour)).toEqual([0.0707616, 0.58968]);
    expect(price.publicips.map((part) => part.price_per_hour)).toEqual([0.0117936]);
    expect(price.volumes.map((part) => part.price_per_hour)).toEqual([0.0353808]);
    expect(price.total_price).toEqual({
      currency_code: 'EUR',
      discount_percent: 0.16,
      price_per_hour: 0.707616,
      price_per_month: 509.48352,
      // 0.72 x 1.17 x 720
      price_without_discount_per_month: 606.528,
      price_status: 'show',
      tax_percent: 17,
    });
  });

  test('has no sum where a part has no price, and hides all from those who see none', () => {
    const unknown = { ...POOL_OF_THREE, publicAddress: { hour: undefined } };
    const missing = clusterPrice(TERMS, [POOL_OF_THREE, unknown]);
    expect(missing.instances).toMatchObject([{ price_status: 'show' }, { price_status: 'show' }]);
    expect(missing.total_price).toMatchObject({ price_status: 'error', price_per_hour: null });
    const hidden = clusterPrice({ ...TERMS, visibility: 'hide' }, [unknown]);
    expect(hidden.total_price).toMatchObject({ price_status: 'hide', discount_percent: null });
  });
});

describe('over HTTP', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await borrowService();
  });
  afterAll(() => service?.stop());

  const PRICES = '/cloud/v2/pricing/1/1/k8s/clusters';
  const { flavor_id, boot_volume_size, boot_volume_type } = POOL;
  const VIRTUAL = { flavor_id, boot_volume_size, boot_volume_type };

  test('a cluster that might be made costs what it costs once it is made', async () => {
    const { http } = service;
    const parts = await clusterParts(service);
    const open = { ...POOL, min_node_count: 2, is_public_ipv4: true };
    const cluster = await makeCluster(http, parts.body({ pools: [open, GPU_POOL] }));
    const preview = await http.post(PRICES, {
      pools: [
        { ...VIRTUAL, node_count: 2, is_public_ipv4: true },
        { flavor_id: GPU_POOL.flavor_id, node_count: GPU_POOL.min_node_count },
      ],
    });
    expect(preview, preview.text).toMatchObject({ status: 200 });
    expect(preview.body).toMatchObject({
      instances: [{ price_status: 'show' }, { price_status: 'show' }],
      publicips: [{ price_status: 'show' }],
      volumes: [{ price_status: 'show' }],
      total_price: { currency_code: 'EUR', price_status: 'show' },
    });
    const existing = await http.get(`${PRICES}/${cluster.name}`);
    expect(existing.body).toEqual(preview.body);
    const { http: other } = await service.otherTenant();
    expect(await other.get(`${PRICES}/${cluster.name}`)).toMatchObject({ status: 404 });
    expect(await http.get(`${PRICES}/nope`)).toMatchObject({ status: 404 });
  });

  test.each(['', '/gcore'])('%s prices the machines of a pool that names no boot volume', async (base) => {
    const { http } = service;
    const preview = await http.post(`${base}${PRICES}`, { pools: [{ flavor_id, node_count: 1 }] });
    expect(preview, preview.text).toMatchObject({ status: 200 });
    expect(preview.body).toMatchObject({ instances: [{ price_status: 'show' }], publicips: [], volumes: [] });
    expect(preview.body.total_price).toEqual(preview.body.instances[0]);
    const nulls = { flavor_id, node_count: 1, boot_volume_size: null, boot_volume_type: null };
    expect((await http.post(`${base}${PRICES}`, { pools: [nulls] })).body).toEqual(preview.body);
  });

  test.each([
    ['an unknown flavor', { ...VIRTUAL, flavor_id: 'nope' }, 'flavor_id'],
    ['half a boot volume', { flavor_id, boot_volume_type }, 'boot_volume_size'],
    ['the other half', { flavor_id, boot_volume_size, boot_volume_type: null }, 'boot_volume_type'],
    ['a boot volume for bare metal', { ...VIRTUAL, flavor_id: GPU_POOL.flavor_id }, 'boot_volume_type'],
    ['a volume type that is not here', { ...VIRTUAL, boot_volume_type: 'nope' }, 'boot_volume_type'],
    ['too many nodes', { ...VIRTUAL, node_count: 201 }, 'node_count'],
  ])('is refused with %s', async (_, pool, field) => {
    const answer = await service.http.post(PRICES, { pools: [pool] });
    expect(answer).toMatchObject({ status: 400 });
    expect(answer.text).toContain(`"pools.0.${field}"`);
  });

  test('is refused without pools', async () => {
    expect(await service.http.post(PRICES, { pools: [] })).toMatchObject({ status: 400 });
  });
});
