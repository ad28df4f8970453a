import { beforeAll, describe, expect, it } from 'vitest';
import { BOOT_VOLUME } from '../../../support/boot-volume.ts';
import { type Resource, refusal, type TaskIds, tags, type Walk } from '../client.ts';
import { walkMetadata } from './metadata.ts';

const FLAVOR = 'g1-standard-1-2';

export function describeInstances(walk: Walk): void {
  const { client, place } = walk;
  const INSTANCES = place('/cloud/v1/instances');
  const V2 = place('/cloud/v2/instances');
  let instance: Resource;
  const one = () => `${INSTANCES}/${instance.id}`;

  describe('instances', () => {
    it('asks for quotas and fitting flavors first', async () => {
      const volumes = [{ source: 'new-volume', size: 10 }];
      const wanted = { flavor: FLAVOR, names: ['walk vm'], interfaces: [{ type: 'external' }], volumes };
      expect(await client.post(`${V2}/check_limits`, wanted)).toEqual({});
      expect(await client.post(`${INSTANCES}/available_flavors`, { volumes })).toMatchObject({
        results: expect.arrayContaining([expect.objectContaining({ flavor_id: FLAVOR })]),
      });
    });

    it('asks which names are allowed', async () => {
      const allowed = await client.get(`${INSTANCES}/available_names`);
      expect(allowed).toMatchObject({ custom_name_allowed: true, allowed_name_templates: null });
    });

    it('creates one as the older library does, attaches to a subnet by its id alone, and deletes it', async () => {
      const [network] = await client.list<{ id: string; subnets: string[] }>(place('/cloud/v1/networks'), {
        name: 'default',
      });
      const of = (name: string) => ({
        flavor: FLAVOR,
        names: [name],
        interfaces: [
          {
            type: 'any_subnet',
            network_id: network?.id,
            floating_ip: { source: 'new', existing_floating_id: '' },
            security_groups: [],
          },
        ],
        volumes: [BOOT_VOLUME],
        password: '',
        username: '',
        user_data: '',
        metadata: { env: 'older' },
      });
      instance = await client.createAndPoll(V2, of('walk vm'), 'instances', INSTANCES);
      const older = await client.createAndPoll(V2, of('walk older vm'), 'instances', INSTANCES);
      expect(older).toMatchObject({ name: 'walk older vm', tags: tags({ env: 'older' }) });
      const at = `${INSTANCES}/${older.id}`;
      await client.poll(await client.post<TaskIds>(`${at}/attach_interface`, { subnet_id: network?.subnets[0] }));
      expect(await client.list(`${at}/interfaces`)).toHaveLength(2);
      const volumes = await client.list<Resource>(place('/cloud/v1/volumes'), { instance_id: older.id });
      const rest = { delete_floatings: true, volumes: volumes.map(({ id }) => id).join(',') };
      await client.poll(await client.delete<TaskIds>(at, rest));
    });

    it('asks for its price', async () => {
      const price = await client.get(`${place('/cloud/v1/pricing')}/instances/${instance.id}`);
      expect(price).toMatchObject({ price_status: 'show', currency_code: 'EUR' });
    });

    it.skipIf(walk.lacks?.includes('load'))('reads its load', async () => {
      const points = await client.post<{ count: number }>(`${one()}/metrics`, {
        time_unit: 'hour',
        time_interval: 1,
      });
      expect(points.count).toBeLessThanOrEqual(240);
    });

    it('tags it, in both versions', async () => {
      await walkMetadata(walk, one());
      for (const [item, query] of [
        [`${V2}/${instance.id}/metadata_item`, { key: 'tier' }],
        [`${one()}/metadata/tier`, {}],
      ] as const) {
        await client.silent('POST', `${one()}/metadata`, { tier: 'walk' });
        expect(await client.get(item, query)).toMatchObject({ key: 'tier', value: 'walk' });
        await client.silent('DELETE', item, undefined, query);
      }
    });

    it('lists the flavors that it could have', async () => {
      const offered = await client.list<{ flavor_id: string }>(`${one()}/available_flavors`, {
        include_prices: true,
      });
      expect(offered.map(({ flavor_id }) => flavor_id)).toContain('g1-standard-2-4');
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
      const disk = { source: 'new-volume', name: 'walk old', size: 1 };
      const volume = await client.createAndPoll(VOLUMES, disk, 'volumes');
      const body = { instance_id: instance.id };
      expect(await client.post(`${VOLUMES}/${volume.id}/attach`, body)).toMatchObject({ status: 'in-use' });
      expect(await client.post(`${VOLUMES}/${volume.id}/detach`, body)).toMatchObject({
        status: 'available',
      });
    });

    it.skipIf(walk.lacks?.includes('serial consoles'))('has a serial console, and no other', async () => {
      const { remote_console } = await client.get<{ remote_console: object }>(`${one()}/get_console`);
      expect(remote_console).toMatchObject({ type: 'serial', url: expect.stringMatching(/^wss?:/) });
      await expect(client.get(`${one()}/get_console`, { console_type: 'novnc' })).rejects.toMatchObject(refusal(400));
    });
  });

  describe('security groups of an instance, and its ports', () => {
    let group: Resource;
    let port: string;
    beforeAll(async () => {
      const security_group = { name: 'walk on ports' };
      group = await client.post<Resource>(place('/cloud/v1/securitygroups'), { security_group });
      port = (await client.list<Resource>(`${one()}/ports`))[0]?.id ?? '';
    });

    it('puts a group on one port, and takes it off', async () => {
      const onInstance = async () => (await client.list<Resource>(`${one()}/securitygroups`)).map(({ name }) => name);
      const named = { ports_security_group_names: [{ port_id: port, security_group_names: [group.name] }] };
      await client.silent('POST', `${one()}/addsecuritygroup`, named);
      expect(await onInstance()).toContain(group.name);
      const on = await client.list(`${place('/cloud/v1/securitygroups')}/${group.id}/instances`);
      expect(on).toMatchObject([{ id: instance.id }]);
      await client.silent('POST', `${one()}/delsecuritygroup`, named);
      expect(await onInstance()).not.toContain(group.name);
    });

    it('lists and changes the port', async () => {
      const PORTS = place('/cloud/v1/ports');
      expect(await client.list(PORTS, { ids: port, limit: 1 })).toMatchObject([{ id: port, managed_by: 'user' }]);
      const pair = { ip_address: '192.168.9.0/24' };
      const change = { allowed_address_pairs: [pair], tags: { env: 'walk' } };
      await client.poll(await client.patch<TaskIds>(`${PORTS}/${port}`, change));
      expect(await client.get(`${PORTS}/${port}`)).toMatchObject(change);
      const PAIRS = `${place('/cloud/v2/ports')}/${port}/allow_address_pairs`;
      await client.poll(await client.put<TaskIds>(PAIRS, { allowed_address_pairs: [] }));
      expect(await client.get(`${PORTS}/${port}`)).toMatchObject({ allowed_address_pairs: [] });
    });
  });
}
