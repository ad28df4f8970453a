import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { borrowService, type TestService } from '../../test/support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await borrowService();
});
afterAll(() => service.stop());

describe('under /gcore, a query parameter without a value', () => {
  it.each([
    'cloud/v1/volumes/1/1?instance_id=&limit=&has_attachments=',
    'cloud/v1/networks/1/1?metadata_k=&metadata_kv=&name=',
    'cloud/v1/reserved_fixed_ips/1/1?order_by=',
    'cloud/v1/lbpools/1/1?listener_id=&listener_id=',
  ])('of a read counts as absent: %s', async (path) => {
    const [plain] = path.split('?');
    const { status, body, text } = await service.http.get(`/gcore/${path}`);
    expect(status, text).toBe(200);
    expect(body).toEqual((await service.http.get(`/gcore/${plain}`)).body);
  });

  it('is still refused where it is unknown or required, and in a change', async () => {
    const fields = async (method: string, path: string) => {
      const { status, body, text } = await service.http.request(method, path);
      expect(status, text).toBe(400);
      return Object.keys(body.invalid_fields);
    };
    expect(await fields('GET', '/gcore/cloud/v1/networks/1/1?nmae=')).toEqual(['nmae']);
    const id = crypto.randomUUID();
    expect(await fields('GET', `/gcore/cloud/v1/networks/1/1/${id}/metadata_item?key=`)).toEqual(['key']);
    const listener = `/gcore/cloud/v1/lblisteners/1/1/${id}`;
    expect(await fields('DELETE', `${listener}?delete_default_pool=`)).toEqual(['delete_default_pool']);
    expect(await fields('GET', '/cloud/v1/volumes/1/1?instance_id=')).toEqual(['instance_id']);
  });

  it('is still refused by our own operations', async () => {
    const query = 'audit?subject=';
    const [own, under] = await Promise.all([
      service.http.get(`/tradewind/v1/${query}`),
      service.http.get(`/gcore/tradewind/v1/${query}`),
    ]);
    expect(own.status, own.text).toBe(400);
    expect([under.status, under.body.invalid_fields]).toEqual([400, own.body.invalid_fields]);
  });
});
