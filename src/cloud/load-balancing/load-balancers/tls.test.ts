import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { borrowService, type TestService } from '../../../../test/support/service.ts';
import { tlsBundle } from '../../../../test/support/tls-bundles.ts';

const BALANCERS = '/cloud/v1/loadbalancers/1/1';
const LISTENERS = '/cloud/v1/lblisteners/1/1';
const POOLS = '/cloud/v1/lbpools/1/1';
const SECRETS = '/cloud/v1/secrets/1/1';

let service: TestService;
beforeAll(async () => {
  service = await borrowService();
});
afterAll(() => service.stop());

type Answer = Awaited<ReturnType<TestService['http']['get']>>;
async function finished({ status, body, text }: Answer) {
  expect(status, text).toBe(200);
  const task = await service.http.task(body[0]);
  expect(task, task.error).toMatchObject({ state: 'FINISHED' });
  return task.created_resources;
}
const certificate = async () => {
  const body = { name: 'certificate', payload: await tlsBundle() };
  return (await finished(await service.http.post('/cloud/v2/secrets/1/1', body))).secrets[0];
};
const bytes = async () =>
  (
    await finished(
      await service.http.post(SECRETS, {
        name: 'bytes',
        secret_type: 'opaque',
        payload: Buffer.from('anything').toString('base64'),
        payload_content_encoding: 'base64',
        payload_content_type: 'application/octet-stream',
      }),
    )
  ).secrets[0];
const https = { name: 'https', protocol: 'TERMINATED_HTTPS', protocol_port: 443 };
const deletion = async (secret: string) => (await service.http.delete(`${SECRETS}/${secret}`)).status;

it('listeners keep their certificates from deletion, from the beginning to the end', async () => {
  const [first, second, third] = [await certificate(), await certificate(), await certificate()];
  const listeners = [{ ...https, secret_id: first, sni_secret_id: [second] }];
  const created = await finished(await service.http.post(BALANCERS, { name: 'balancer', listeners }));
  const [id] = created.listeners;
  expect((await service.http.get(`${LISTENERS}/${id}`)).body).toMatchObject({
    secret_id: first,
    sni_secret_id: [second],
  });
  const { rows } = await service.pool.query('select spec, uses from wants where id = $1', [created.loadbalancers[0]]);
  expect(rows[0].spec.listeners[id].certificates).toEqual({ secretId: first, furtherIds: [second] });
  expect(rows[0].uses).toContain(`secret:${first}`);
  expect([await deletion(first), await deletion(second)]).toEqual([409, 409]);

  const url = `/cloud/v2/lblisteners/1/1/${id}`;
  await finished(await service.http.patch(url, { secret_id: third, sni_secret_id: null }));
  expect(await deletion(third)).toBe(409);
  expect([await deletion(first), await deletion(second)]).toEqual([200, 200]);
  const without = await service.http.patch(url, { secret_id: null });
  expect([without.status, Object.keys(without.body.invalid_fields)]).toEqual([400, ['secret_id']]);
  await finished(await service.http.delete(`${BALANCERS}/${created.loadbalancers[0]}`));
  expect(await deletion(third)).toBe(200);
});

it('pools show certificates to members and check theirs', async () => {
  const [own, list] = [await certificate(), await bytes()];
  const { loadbalancers } = await finished(await service.http.post(BALANCERS, { name: 'balancer' }));
  const base = {
    name: 'servers',
    load_balancer_id: loadbalancers[0],
    protocol: 'HTTPS',
    lb_algorithm: 'ROUND_ROBIN',
  };
  const { pools } = await finished(await service.http.post(POOLS, { ...base, secret_id: own }));
  expect((await service.http.get(`${POOLS}/${pools[0]}`)).body).toMatchObject({
    secret_id: own,
    ca_secret_id: null,
    crl_secret_id: null,
  });
  expect(await deletion(own)).toBe(409);
  const url = `/cloud/v2/lbpools/1/1/${pools[0]}`;
  const refusals: [object, string][] = [
    [{ crl_secret_id: list }, 'ca_secret_id'],
    [{ ca_secret_id: list }, 'ca_secret_id'],
    [{ secret_id: randomUUID() }, 'secret_id'],
    [{ protocol: 'TCP' }, 'secret_id'],
  ];
  for (const [request, field] of refusals) {
    const answer = await service.http.patch(url, request);
    expect(answer.status, answer.text).toBe(400);
    expect(Object.keys(answer.body.invalid_fields)).toEqual([field]);
  }
  await finished(await service.http.patch(url, { secret_id: null }));
  expect(await deletion(own)).toBe(200);
});

it.each<[string, (secret: string) => object, string]>([
  ['TLS without a certificate', () => https, 'secret_id'],
  ['an unknown secret', () => ({ ...https, secret_id: randomUUID() }), 'secret_id'],
  ['a certificate without TLS', (id) => ({ ...https, protocol: 'HTTPS', secret_id: id }), 'secret_id'],
  ['further names alone', (id) => ({ ...https, protocol: 'PROMETHEUS', sni_secret_id: [id] }), 'secret_id'],
  ['an unknown further name', (id) => ({ ...https, secret_id: id, sni_secret_id: [randomUUID()] }), 'sni_secret_id.0'],
])('a listener is refused with %s', async (_, body, field) => {
  const { loadbalancers } = await finished(await service.http.post(BALANCERS, { name: 'balancer' }));
  const [load_balancer_id] = loadbalancers;
  const request = { load_balancer_id, ...body(await certificate()) };
  const answer = await service.http.post(LISTENERS, request);
  expect(answer.status, answer.text).toBe(400);
  expect(Object.keys(answer.body.invalid_fields)).toEqual([field]);
});

it('a listener without TLS may send no secret as an empty text', async () => {
  const { loadbalancers } = await finished(await service.http.post(BALANCERS, { name: 'balancer' }));
  const [load_balancer_id] = loadbalancers;
  const request = { load_balancer_id, name: 'plain', protocol: 'TCP', protocol_port: 22, secret_id: '' };
  const { listeners } = await finished(await service.http.post(LISTENERS, request));
  expect((await service.http.get(`${LISTENERS}/${listeners[0]}`)).body.secret_id).toBeNull();
});
