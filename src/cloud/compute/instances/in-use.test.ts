import { afterAll, beforeAll, expect, it } from 'vitest';
import { clusterParts, makeCluster } from '../../../../test/support/clusters.ts';
import { borrowService, type TestService } from '../../../../test/support/service.ts';

const at = (family: string, id = '') => `/cloud/v1/${family}/1/1${id && `/${id}`}`;

let service: TestService;
let instance: string;
let other: string;
const used = { volume: '', disk: '', network: '', group: '' };

async function made(path: string, body: object): Promise<string> {
  const answer = await service.http.post(path, body);
  expect(answer.status, answer.text).toBeLessThan(300);
  if (answer.body.id) return answer.body.id;
  const task = await service.http.task(answer.body.tasks?.[0] ?? answer.body[0]);
  expect(task.state, task.error).toBe('FINISHED');
  return String(Object.values(task.created_resources as Record<string, unknown>).flat()[0]);
}

beforeAll(async () => {
  service = await borrowService();
  const parts = await clusterParts(service);
  used.network = await made(at('networks'), { name: 'shared by kinds' });
  const subnet = await made(at('subnets'), {
    name: 'shared by kinds',
    network_id: used.network,
    cidr: '10.77.0.0/24',
  });
  used.group = await made(at('securitygroups'), { security_group: { name: 'of web' } });
  used.volume = await made(at('volumes'), { source: 'new-volume', name: 'data of web', size: 1 });
  const web = {
    flavor: 'g1-standard-1-2',
    volumes: [{ source: 'image', image_id: 'd30931af-8845-4913-a690-021a990a917f', size: 20 }],
  };
  const interfaces = [
    { type: 'subnet', subnet_id: subnet, security_groups: [{ id: used.group }], network_id: used.network },
  ];
  [instance, other] = await Promise.all([
    made('/cloud/v2/instances/1/1', { ...web, name: 'web-1', interfaces }),
    made('/cloud/v2/instances/1/1', { ...web, name: 'web-2', interfaces: [{ type: 'external' }] }),
  ]);
  const attached = await service.http.post(`/cloud/v2/volumes/1/1/${used.volume}/attach`, {
    instance_id: instance,
  });
  await service.http.task(attached.body.tasks?.[0] ?? attached.body[0]);
  await makeCluster(service.http, parts.body({ name: 'blue', fixed_network: used.network, fixed_subnet: subnet }));
  const disks = await service.http.get(at('volumes'));
  used.disk = disks.body.results.find(
    ({ attachments: [one] }: { attachments: { server_id: string }[] }) =>
      one && one.server_id !== instance && one.server_id !== other,
  ).id;
});
afterAll(() => service?.stop());

const place = () => `instance web-1 (${instance})`;

it.each<[string, () => [string, string, object?], () => (string | RegExp)[]]>([
  ['a volume', () => ['DELETE', at('volumes', used.volume)], () => [`attached to ${place()}; detach it first`]],
  [
    'a volume for another',
    () => ['POST', `/cloud/v2/volumes/1/1/${used.volume}/attach`, { instance_id: other }],
    () => [`attached to ${place()}; detach it first`],
  ],
  [
    'a disk of a node',
    () => ['DELETE', at('volumes', used.disk)],
    () => [/is a disk of node \S+ of pool \S+ of Kubernetes cluster blue/],
  ],
  ['a security group', () => ['DELETE', at('securitygroups', used.group)], () => [`of ${place()}`, 'delsecuritygroup']],
  ['a network', () => ['DELETE', at('networks', used.network)], () => [`of ${place()}`, 'cluster blue']],
])('names who has %s that is in use', async (_, request, texts) => {
  const [method, path, body] = request();
  const answer = await service.http.request(method, path, { body });
  expect(answer.status, answer.text).toBe(409);
  for (const text of texts()) expect(answer.body.message).toMatch(text);
});
