import { beforeAll, describe, expect, it } from 'vitest';
import type { Query } from '../query.ts';
import type { Page, Resource, TaskIds } from '../shapes.ts';
import { refusal, tags, type Walk } from '../walk.ts';
import { walkMetadata } from './metadata.ts';

interface Interface {
  port_id: string;
  ip_assignments: { ip_address: string }[];
}

const FLAVOR = 'g1-standard-1-2';

/** A machine on a network of the caller's choice, with one boot volume. */
export async function makeInstance({ client, place }: Walk, name: string): Promise<Resource> {
  const [network] = await client.all<Resource>(place('/cloud/v1/networks'), { name: 'default' });
  const [image] = await client.all<Resource>(place('/cloud/v1/images'), { os_distro: 'ubuntu' });
  const body = {
    name,
    flavor: FLAVOR,
    interfaces: [{ type: 'any_subnet', network_id: network?.id }],
    volumes: [{ source: 'image', image_id: image?.id, size: 20, boot_index: 0, delete_on_termination: true }],
    tags: { env: 'walk' },
    ssh_key_name: null,
  };
  const at = (id: string) => `${place('/cloud/v1/instances')}/${id}`;
  return client.createAndPoll<Resource>(place('/cloud/v2/instances'), body, {
    of: 'instances',
    only: true,
    at,
  });
}

export function describeInstances(walk: Walk): void {
  const { client, impatient, place } = walk;
  const INSTANCES = place('/cloud/v1/instances');
  let instance: Resource;
  const one = () => `${INSTANCES}/${instance.id}`;
  const v2 = () => `${place('/cloud/v2/instances')}/${instance.id}`;

  describe('instances', () => {
    it('asks for quotas and fitting flavors first', async () => {
      const volumes = [{ source: 'new-volume', size: 10 }];
      const wanted = { flavor: FLAVOR, names: ['walk vm'], interfaces: [{ type: 'external' }], volumes };
      expect(await client.post(`${place('/cloud/v2/instances')}/check_limits`, wanted)).toEqual({});
      const fitting = await client.post<Page<object>>(`${INSTANCES}/available_flavors`, { volumes });
      expect(fitting.results.length).toBe(fitting.count);
    });

    it('creates one, by exactly one task that names exactly one instance', async () => {
      instance = await makeInstance(walk, 'walk vm');
      expect(instance).toMatchObject({
        name: 'walk vm',
        status: 'ACTIVE',
        vm_state: 'active',
        tags: tags({ env: 'walk' }),
      });
    });

    it('lists with filters, page by page', async () => {
      await makeInstance(walk, 'walk vm two');
      const names = async (query: Query) =>
        (await client.all<Resource>(INSTANCES, { limit: 1, order_by: 'name.asc', ...query })).map(
          ({ name }) => name,
        );
      expect(await names({})).toEqual(['walk vm', 'walk vm two']);
      expect(await names({ name: 'vm two', status: 'ACTIVE' })).toEqual(['walk vm two']);
      expect(await names({ uuid: instance.id.slice(0, 8), flavor_id: FLAVOR, include_k8s: false })).toEqual([
        'walk vm',
      ]);
      expect(await names({ tag_value: ['walk'], tag_key_value: '{"env":"walk"}' })).toHaveLength(2);
      expect(await names({ status: 'SHUTOFF' })).toEqual([]);
    });

    it('renames and tags it', async () => {
      expect(await client.patch(one(), { name: 'walk vm one', tags: { tier: 'web' } })).toMatchObject({
        name: 'walk vm one',
        tags: tags({ env: 'walk', tier: 'web' }),
      });
      await walkMetadata(walk, one());
    });

    it.each([
      ['stop', 'SHUTOFF'],
      ['start', 'ACTIVE'],
      ['reboot', 'ACTIVE'],
      ['reboot_hard', 'ACTIVE'],
      ['suspend', 'SUSPENDED'],
      ['resume', 'ACTIVE'],
    ])('%s: done by a task, after which it is %s', async (action, status) => {
      await client.postAndPoll(`${v2()}/action`, { action });
      expect(await client.get(one())).toMatchObject({ status, task_id: null });
    });

    it('gets several of them through, though a task holds the instance meanwhile', async () => {
      const conflicts = client.repeated.length;
      const reboot = (action: string) => client.postAndPoll(`${v2()}/action`, { action });
      await Promise.all([reboot('reboot'), reboot('reboot_hard')]);
      expect(client.repeated.slice(conflicts)).toContain(409);
      expect(await client.get(one())).toMatchObject({ status: 'ACTIVE', task_id: null });
    });

    it('changes its flavor to one that is offered', async () => {
      const offered = await client.get<Page<{ flavor_id: string }>>(`${one()}/available_flavors`, {
        include_prices: true,
      });
      const flavor_id = 'g1-standard-2-4';
      expect(offered.results.map((flavor) => flavor.flavor_id)).toContain(flavor_id);
      await client.postAndPoll(`${one()}/changeflavor`, { flavor_id });
      expect(await client.get(one())).toMatchObject({ flavor: { flavor_id }, status: 'ACTIVE' });
    });

    it('attaches and detaches an interface', async () => {
      await client.postAndPoll(`${one()}/attach_interface`, { type: 'external', security_groups: [] });
      const interfaces = await client.all<Interface>(`${one()}/interfaces`, { limit: 1 });
      expect(interfaces).toHaveLength(2);
      const attached = interfaces.at(-1);
      await client.postAndPoll(`${one()}/detach_interface`, {
        port_id: attached?.port_id,
        ip_address: attached?.ip_assignments[0]?.ip_address,
      });
      expect(await client.all(`${one()}/interfaces`)).toHaveLength(1);
    });

    it('attaches and detaches a volume', async () => {
      const VOLUMES = place('/cloud/v1/volumes');
      const body = {
        source: 'new-volume',
        name: 'walk data',
        size: 1,
        instance_id_to_attach_to: instance.id,
      };
      const volume = await client.createAndPoll<Resource>(VOLUMES, body, { of: 'volumes' });
      expect(await client.all(VOLUMES, { instance_id: instance.id, has_attachments: true })).toHaveLength(2);
      const v2 = `${place('/cloud/v2/volumes')}/${volume.id}`;
      await client.postAndPoll(`${v2}/detach`, { instance_id: instance.id });
      await client.postAndPoll(`${v2}/attach`, { instance_id: instance.id, attachment_tag: 'data' });
      expect(await client.get(`${VOLUMES}/${volume.id}`)).toMatchObject({ status: 'in-use' });
      await client.postAndPoll(`${v2}/detach`, { instance_id: instance.id });
      await client.deleteAndPoll(`${VOLUMES}/${volume.id}`);
    });
  });

  describe('security groups of an instance, and its ports', () => {
    let group: Resource;
    let port: string;
    beforeAll(async () => {
      const security_group = { name: 'walk on ports' };
      group = await client.post<Resource>(place('/cloud/v1/securitygroups'), { security_group });
      port = (await client.get<Page<Resource>>(`${one()}/ports`)).results[0]?.id ?? '';
    });
    const onInstance = async () =>
      (await client.get<Page<Resource>>(`${one()}/securitygroups`)).results.map(({ name }) => name);

    it('puts a group on all ports or one, once and again, and takes it off', async () => {
      const all = { name: group.name };
      const named = { ports_security_group_names: [{ port_id: port, security_group_names: [group.name] }] };
      for (const body of [all, named]) {
        await client.silent('POST', `${one()}/addsecuritygroup`, body);
        expect(await onInstance()).toContain(group.name);
      }
      const GROUP = `${place('/cloud/v1/securitygroups')}/${group.id}`;
      expect(await client.get(`${GROUP}/instances`)).toMatchObject({
        count: 1,
        results: [{ id: instance.id }],
      });
      await expect(impatient.delete(GROUP)).rejects.toMatchObject(refusal(409));
      await client.silent('POST', `${one()}/delsecuritygroup`, named);
      expect(await onInstance()).not.toContain(group.name);
      await client.silent('DELETE', GROUP);
    });

    it('lists and changes the port', async () => {
      const PORTS = place('/cloud/v1/ports');
      const found = await client.all<Resource>(PORTS, { ids: [port], limit: 1, order_by: 'created_at.asc' });
      expect(found).toMatchObject([{ id: port, managed_by: 'user' }]);
      const pair = { ip_address: '192.168.9.0/24' };
      await client.patchAndPoll(`${PORTS}/${port}`, { allowed_address_pairs: [pair], tags: { env: 'walk' } });
      expect(await client.get(`${PORTS}/${port}`)).toMatchObject({
        allowed_address_pairs: [pair],
        tags: { env: 'walk' },
      });
      const PAIRS = `${place('/cloud/v2/ports')}/${port}/allow_address_pairs`;
      await client.poll(await client.put<TaskIds>(PAIRS, { allowed_address_pairs: [] }));
      const secured = (verb: string) => client.post(`${PORTS}/${port}/${verb}_port_security`);
      await client.patchAndPoll(`${PORTS}/${port}`, { security_group_ids: [] });
      expect(await secured('disable')).toMatchObject({ port_security_enabled: false });
      expect(await secured('enable')).toMatchObject({
        port_security_enabled: true,
        allowed_address_pairs: [],
      });
    });
  });

  describe('instances the old way', () => {
    it('creates one as the older library does, attaches to a subnet by its id alone, and deletes it', async () => {
      const [network] = await client.all<{ id: string; subnets: string[] }>(place('/cloud/v1/networks'), {
        name: 'default',
      });
      const body = {
        flavor: FLAVOR,
        names: ['walk older vm'],
        interfaces: [
          {
            type: 'any_subnet',
            network_id: network?.id,
            floating_ip: { source: 'new', existing_floating_id: '' },
            security_groups: [],
          },
        ],
        volumes: [{ source: 'new-volume', size: 1, boot_index: 0 }],
        password: '',
        username: '',
        user_data: '',
        metadata: { env: 'older' },
      };
      const at = (id: string) => `${INSTANCES}/${id}`;
      const older = await client.createAndPoll<Resource>(place('/cloud/v2/instances'), body, {
        of: 'instances',
        at,
      });
      expect(older).toMatchObject({ name: 'walk older vm', tags: tags({ env: 'older' }) });
      await client.postAndPoll(`${at(older.id)}/attach_interface`, { subnet_id: network?.subnets[0] });
      expect(await client.all(`${at(older.id)}/interfaces`)).toHaveLength(2);
      const volumes = await client.all<Resource>(place('/cloud/v1/volumes'), { instance_id: older.id });
      await client.deleteAndPoll(at(older.id), {
        delete_floatings: true,
        volumes: volumes.map(({ id }) => id).join(','),
      });
    });

    it.each([
      ['stop', 'SHUTOFF'],
      ['start', 'ACTIVE'],
      ['reboot', 'ACTIVE'],
      ['powercycle', 'ACTIVE'],
      ['suspend', 'SUSPENDED'],
      ['resume', 'ACTIVE'],
    ])('%s: done at once, after which it is %s', async (action, status) => {
      expect(await client.post(`${one()}/${action}`)).toMatchObject({ id: instance.id, status });
    });

    it('attaches and detaches a volume at once', async () => {
      const VOLUMES = place('/cloud/v1/volumes');
      const volume = await client.createAndPoll<Resource>(
        VOLUMES,
        { source: 'new-volume', name: 'walk old', size: 1 },
        { of: 'volumes' },
      );
      const body = { instance_id: instance.id };
      expect(await client.post(`${VOLUMES}/${volume.id}/attach`, body)).toMatchObject({ status: 'in-use' });
      expect(await client.post(`${VOLUMES}/${volume.id}/detach`, body)).toMatchObject({
        status: 'available',
      });
    });

    it('reads and removes a tag by its key, in both versions', async () => {
      for (const [base, key] of [
        [v2(), 'tier'],
        [one(), 'env'],
      ] as const) {
        await client.silent('POST', `${one()}/metadata`, { [key]: 'walk' });
        const item = base === one() ? `${base}/metadata/${key}` : `${base}/metadata_item`;
        const query = base === one() ? {} : { key };
        expect(await client.get(item, query)).toMatchObject({ key, value: 'walk' });
        await client.silent('DELETE', item, undefined, query);
      }
    });

    it('is refused a console, which simulated machines have none of', async () => {
      await expect(impatient.get(`${one()}/get_console`, { console_type: 'novnc' })).rejects.toMatchObject(
        refusal(400),
      );
    });
  });

  it('deletes an instance with the volume it booted from', async () => {
    await client.deleteAndPoll(one(), { delete_floatings: true });
    await expect(impatient.get(one())).rejects.toMatchObject(refusal(404));
    expect(await client.all(place('/cloud/v1/volumes'), { instance_id: instance.id })).toEqual([]);
  });
}
