import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpClient } from '../../../../../test/support/http-client.ts';
import { borrowService, type TestService } from '../../../../../test/support/service.ts';

const PLACE = 'instances/1/1';
const CREATE = `/gcore/cloud/v2/${PLACE}`;
const IMAGE = 'd30931af-8845-4913-a690-021a990a917f';

let service: TestService;
let http: HttpClient;
let network: string;
let subnet: string;
beforeAll(async () => {
  service = await borrowService();
  http = service.http;
  const networks = await http.get('/cloud/v1/networks/1/1');
  network = networks.body.results[0].id;
  subnet = networks.body.results[0].subnets[0];
  await http.post('/cloud/v1/ssh_keys/1', { name: 'laptop' });
});
afterAll(() => service.stop());

const image = (boot_index: number) => ({ source: 'image', size: 20, image_id: IMAGE, boot_index });
const blank = (boot_index: number) => ({ source: 'new-volume', size: 1, boot_index });

async function made(answer: { status: number; text: string; body: { tasks: string[] } }) {
  expect(answer.status, answer.text).toBe(200);
  expect(answer.body.tasks).toHaveLength(1);
  const task = await http.task(String(answer.body.tasks[0]));
  expect(task.state, task.error).toBe('FINISHED');
  return task;
}

/** Contains everything that the library sends, whether or not its user asked for it. */
const body = (more: object = {}) => ({
  flavor: 'g1-standard-1-2',
  names: ['older web'],
  volumes: [{ source: 'image', boot_index: 0, size: 20, image_id: IMAGE }],
  interfaces: [{ type: 'any_subnet', network_id: network, security_groups: [] }],
  password: '',
  username: '',
  user_data: '',
  ...more,
});

async function instanceOf(more: object = {}) {
  const { created_resources } = await made(await http.post(CREATE, body(more)));
  return (await http.get(`/cloud/v1/${PLACE}/${created_resources.instances[0]}`)).body;
}

describe('an instance, as the library below the older Terraform provider makes it', () => {
  it('has name, key and tags by their older names', async () => {
    const instance = await instanceOf({
      keypair_name: 'laptop',
      metadata: { env: 'older' },
      volumes: [
        { source: 'image', boot_index: 0, size: 20, image_id: IMAGE, metadata: { disk: 'root' } },
        { source: 'new-volume', boot_index: 0, size: 1 },
      ],
      interfaces: [
        { type: 'external', security_groups: [] },
        {
          type: 'subnet',
          network_id: network,
          subnet_id: subnet,
          floating_ip: { source: 'new', existing_floating_id: '' },
          security_groups: null,
        },
      ],
    });
    expect(instance).toMatchObject({
      name: 'older web',
      ssh_key_name: 'laptop',
      tags: [{ key: 'env', value: 'older' }],
      volumes: [{}, {}],
      addresses: { default: [{ type: 'fixed' }, { type: 'floating' }] },
      // An empty list means no groups. Without a list, the instance gets the default group.
      security_groups: [{ name: 'default' }],
    });
    const root = await http.get(`/cloud/v1/volumes/1/1?instance_id=${instance.id}&bootable=true`);
    expect(root.body.results).toMatchObject([{ is_root_volume: true, tags: [{ key: 'disk' }] }]);
  });

  it('may open the ports of its application, of which it has none', async () => {
    expect(await instanceOf({ allow_app_ports: true })).toMatchObject({ status: 'ACTIVE' });
  });

  it('is named after its address by the older list of templates', async () => {
    const { name, fixed_ip_assignments } = await instanceOf({
      names: undefined,
      name_templates: ['older-{one_ip_octet}'],
      keypair_name: '',
    });
    expect(name).toBe(`older-${fixed_ip_assignments[0].ip_address.split('.')[3]}`);
  });

  it('takes a volume that exists, whatever is said of it', async () => {
    const volume = { name: 'kept', size: 20, source: 'image', image_id: IMAGE, type_name: 'ssd_hiiops' };
    const task = await http.task((await http.post('/cloud/v1/volumes/1/1', volume)).body[0]);
    const [volume_id] = task.created_resources.volumes;
    const existing = { source: 'existing-volume', volume_id, name: 'other', type_name: 'standard' };
    const instance = await instanceOf({ volumes: [{ ...existing, boot_index: 0 }] });
    expect(instance.volumes).toMatchObject([{ id: volume_id }]);
    expect((await http.get(`/cloud/v1/volumes/1/1/${volume_id}`)).body).toMatchObject({
      name: 'kept',
      volume_type: 'ssd_hiiops',
    });
  });

  it.each([
    ['between others', [image(0), blank(1), image(2)]],
    ['before others', [blank(0), image(1)]],
    ['twice at the same place', [image(0), blank(1), blank(1), image(2)]],
    ['that never boots', [blank(-1), image(0)]],
  ])('takes a boot order with a blank volume %s', async (_, volumes) => {
    expect((await instanceOf({ volumes })).volumes).toHaveLength(volumes.length);
  });

  it.each([
    ['a gap', [image(0), blank(1), image(3)], 'volumes.2.boot_index'],
    ['a repetition', [image(0), blank(1), image(0)], 'volumes.2.boot_index'],
  ])('is refused with %s beside a blank volume', async (_, volumes, field) => {
    const refused = await http.post(CREATE, body({ volumes }));
    expect([refused.status, Object.keys(refused.body.invalid_fields)]).toEqual([400, [field]]);
  });

  it.each([
    [{ names: ['one', 'two'] }, 'names'],
    [{ names: [] }, 'names'],
    [{ names: ['-'] }, 'names.0'],
    [{ name: 'web-1' }, 'names'],
    [{ name_templates: ['a-{ip_octets}'] }, 'name_templates.0'],
    [{ names: undefined, name_templates: ['a-{nothing}'] }, 'name_templates.0'],
    [{ keypair_name: 'unknown' }, 'keypair_name'],
    [{ keypair_name: 'laptop', ssh_key_name: 'laptop' }, 'keypair_name'],
    [{ metadata: { 'a b': 'c' } }, 'metadata.a b'],
    [{ metadata: { a: 'c' }, tags: { a: 'd' } }, 'metadata'],
    [{ volumes: [{ source: 'new-volume', size: 1, metadata: { 'a b': 'c' } }] }, 'volumes.0.metadata.a b'],
    [{ volumes: [{ source: 'new-volume', size: 1, metadata: { a: 'c' }, tags: { a: 'd' } }] }, 'volumes.0.metadata'],
    [{ interfaces: [{ type: 'wireless' }] }, 'interfaces.0.type'],
  ])('is refused with %j', async (more, field) => {
    const refused = await http.post(CREATE, body(more));
    expect(refused.status, refused.text).toBe(400);
    expect(Object.keys(refused.body.invalid_fields)).toEqual([field]);
  });
});

it.each([
  [{ names: ['older web'] }, 'names'],
  [{ name_templates: ['a-{ip_octets}'] }, 'name_templates'],
  [{ keypair_name: '' }, 'keypair_name'],
  [{ metadata: {} }, 'metadata'],
  [{ volumes: [{ source: 'new-volume', size: 1, boot_index: 0 }] }, 'volumes.0.boot_index'],
])('the specification knows nothing of %j', async (older, field) => {
  const { names: _, ...today } = body();
  const refused = await http.post(`/cloud/v2/${PLACE}`, { ...today, ...older });
  expect(refused.status).toBe(400);
  expect(Object.keys(refused.body.invalid_fields)).toEqual([field]);
});
