import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Values } from '../support/openapi.ts';
import { createPossessions } from '../support/possessions.ts';
import { borrowService, type TestService } from '../support/service.ts';

/**
 * How the library of the older Terraform provider parses the times of each kind of answer. It always accepts
 * a trailing Z as well; any other form is an error that ends its call.
 */
const OFFSET = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\+0000|Z)$/;
const PLAIN = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ?$/;
const Z = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

const READS: [path: string, field: string, form: RegExp][] = [
  ['/cloud/v1/regions/{region_id}', 'created_on', PLAIN],
  ['/cloud/v1/projects/{project_id}', 'created_at', PLAIN],
  ['/cloud/v1/tasks/{task_id}', 'created_on', PLAIN],
  ['/cloud/v1/tasks/{task_id}', 'finished_on', PLAIN],
  ['/cloud/v1/networks/1/1/{network_id}', 'created_at', OFFSET],
  ['/cloud/v1/networks/1/1/{network_id}', 'updated_at', OFFSET],
  ['/cloud/v1/subnets/1/1/{subnet_id}', 'created_at', OFFSET],
  ['/cloud/v1/securitygroups/1/1/{group_id}', 'created_at', OFFSET],
  ['/cloud/v1/volumes/1/1/{volume_id}', 'created_at', OFFSET],
  ['/cloud/v1/volumes/1/1/{volume_id}', 'updated_at', OFFSET],
  ['/cloud/v1/snapshots/1/1/{snapshot_id}', 'created_at', OFFSET],
  ['/cloud/v1/images/1/1/{image_id}', 'created_at', OFFSET],
  ['/cloud/v1/floatingips/1/1/{floating_ip_id}', 'created_at', OFFSET],
  ['/cloud/v1/reserved_fixed_ips/1/1/{reserved_port_id}', 'created_at', OFFSET],
  ['/cloud/v1/instances/1/1/{instance_id}', 'instance_created', Z],
  ['/cloud/v1/ports/1/1/{port_id}', 'created_at', Z],
  ['/cloud/v1/ports/1/1/{port_id}', 'updated_at', Z],
  ['/cloud/v1/ssh_keys/1/{ssh_key_id}', 'created_at', Z],
  ['/cloud/v2/k8s/clusters/1/1/{cluster_name}', 'created_at', Z],
];

let service: TestService;
let values: Values;
beforeAll(async () => {
  service = await borrowService();
  const possessions = createPossessions(service.http);
  await possessions.make(...READS.flatMap(([path]) => path.match(/(?<=\{)\w+/g) ?? []));
  values = possessions.values;
});
afterAll(() => service.stop());

it.each(READS)('%s says %s as older clients read it', async (path, field, form) => {
  const url = path.replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
  const answer = await service.http.get(`/gcore${url}`);
  expect(answer.status, answer.text).toBe(200);
  expect(answer.body[field]).toMatch(form);
});

it('regions in lists as well, by which a region is found by its name', async () => {
  const { body } = await service.http.get('/gcore/cloud/v1/regions');
  for (const { created_on } of body.results) expect(created_on).toMatch(PLAIN);
});
