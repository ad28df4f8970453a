import { expect, it } from 'vitest';
import { BOOT_VOLUME } from '../support/boot-volume.ts';
import { documentedOperations, UNSUPPORTED } from '../support/openapi.ts';
import { startService } from '../support/service.ts';

/** Nothing shows one of them with its version. */
const NEVER_READ = ['updateDdosProfile', 'updateRoleAssignment'];

it('lets every resource that can be changed be changed at a version', async () => {
  const operations = await documentedOperations();
  const without = operations
    .filter(({ method, path }) => method === 'PATCH' && path.endsWith('}'))
    .filter(({ operation }) => ![...UNSUPPORTED, ...NEVER_READ].includes(operation.operationId))
    .filter(({ operation }) => !JSON.stringify(operation.parameters).includes('IfMatch'));
  expect(without.map(({ title }) => title)).toEqual([]);
});

it('moves the version of a whole when a part of it changes', async () => {
  const service = await startService();
  const { http } = service;
  const etagOf = async (path: string) => (await http.get(path)).headers.get('etag') ?? '';
  const madeBy = async (base: string, body: object, kind: string): Promise<string> => {
    const answer = await http.post(base, body);
    expect(answer.status, answer.text).toBe(200);
    const task = await http.task((answer.body.tasks ?? answer.body)[0]);
    return task.created_resources[kind][0];
  };
  const volumes = '/cloud/v1/volumes/1/1';
  const network = await madeBy('/cloud/v1/networks/1/1', { name: 'whole' }, 'networks');
  const host = await madeBy(
    '/cloud/v2/instances/1/1',
    {
      name: 'whole',
      flavor: 'g1-standard-1-2',
      interfaces: [{ type: 'external' }],
      volumes: [BOOT_VOLUME],
    },
    'instances',
  );
  const disk = await madeBy(volumes, { name: 'part', source: 'new-volume', size: 1 }, 'volumes');
  const wholes = [`/cloud/v1/networks/1/1/${network}`, `/cloud/v1/instances/1/1/${host}`, `${volumes}/${disk}`];
  const before = await Promise.all(wholes.map(etagOf));
  const subnet = { name: 'part', network_id: network, cidr: '192.168.77.0/24' };
  await madeBy('/cloud/v1/subnets/1/1', { ...subnet, connect_to_network_router: false }, 'subnets');
  const attached = await http.post(`/cloud/v2/volumes/1/1/${disk}/attach`, { instance_id: host });
  expect((await http.task((attached.body.tasks ?? attached.body)[0])).state).toBe('FINISHED');
  const after = await Promise.all(wholes.map(etagOf));
  for (const [index, etag] of after.entries()) {
    expect(etag).toMatch(/^"\d+"$/);
    expect(Number(etag.slice(1, -1)), wholes[index]).toBeGreaterThan(Number(before[index]?.slice(1, -1)));
  }
  // Every resource that is said to have a version has one that no change leaves as it is.
  const { rows } = await service.pool.query(
    `select table_name from information_schema.columns
     where table_schema = 'public' and column_name = 'revision'
       and table_name <> 'simulated_objects' and table_name not like 'catalog%'
     except select event_object_table from information_schema.triggers where trigger_name = 'raise_revision'`,
  );
  expect(rows).toEqual([]);
  await service.stop();
});
