import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Answer } from '../../../../test/support/http-client.ts';
import { borrowService, type TestService } from '../../../../test/support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await borrowService();
});
afterAll(() => service.stop());

async function made(answer: Answer): Promise<string> {
  expect(answer.status, answer.text).toBe(200);
  const task = await service.http.task(answer.body[0]);
  expect(task).toMatchObject({ state: 'FINISHED', error: null });
  return task.created_resources?.file_shares[0];
}
const told = async (id: string) =>
  (await service.pool.query('select spec from simulated_objects where id = $1', [id])).rows[0]?.spec;

it('the infrastructure is told all of a standard share: who reaches it through what, and each change', async () => {
  const networks = (await service.http.get('/cloud/v1/networks/1/2')).body.results;
  const network = networks.find((one: { external: boolean }) => !one.external);
  const base = '/cloud/v1/file_shares/1/2';
  const access = [{ ip_address: '10.1.0.0/16', access_mode: 'ro' }];
  const body = { name: 'whole', protocol: 'NFS', size: 5, network: { network_id: network.id }, access };
  const id = await made(await service.http.post(base, { ...body, tags: { a: 'b' } }));
  const [first] = (await service.http.get(`${base}/${id}/access_rule`)).body.results;
  const whole = {
    name: 'whole',
    type: 'standard',
    sizeGib: 5,
    subnet: { networkId: network.id, subnetId: (await service.http.get(`${base}/${id}`)).body.subnet_id },
    access: { [first.id]: { to: '10.1.0.0/16', level: 'ro' } },
    metadata: { a: 'b' },
  };
  expect(await told(id)).toEqual(whole);

  const rule = { ip_address: '10.2.0.1', access_mode: 'rw' };
  const { body: second } = await service.http.post(`${base}/${id}/access_rule`, rule);
  await service.http.delete(`${base}/${id}/access_rule/${first.id}`);
  const tagged = await service.http.post(`${base}/${id}/metadata`, { c: 'd' });
  expect(tagged.status, tagged.text).toBeLessThan(300);
  await made(await service.http.post(`${base}/${id}/extend`, { size: 7 }));
  await expect
    .poll(() => told(id))
    .toEqual({
      ...whole,
      sizeGib: 7,
      access: { [second.id]: { to: '10.2.0.1', level: 'rw' } },
      metadata: { a: 'b', c: 'd' },
    });
});

it('and the settings of a VAST one', async () => {
  const base = '/cloud/v1/file_shares/1/1';
  const id = await made(await service.http.post(base, { name: 'vast', protocol: 'NFS', size: 1 }));
  const whole = { name: 'vast', type: 'vast', sizeGib: 1, access: {}, metadata: {} };
  expect(await told(id)).toEqual({ ...whole, settings: { rootSquash: true } });
  const share_settings = { root_squash: false, path_length: 'NPL' };
  await made(await service.http.patch(`/cloud/v3/file_shares/1/1/${id}`, { name: 'other', share_settings }));
  const settings = { rootSquash: false, pathLength: 'NPL' };
  expect(await told(id)).toEqual({ ...whole, name: 'other', settings });
});
