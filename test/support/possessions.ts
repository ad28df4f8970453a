import { expect } from 'vitest';
import { clusterParts, makeCluster } from './clusters.ts';
import type { DocumentedOperation } from './openapi.ts';
import { pathParameters } from './openapi.ts';
import type { TestService } from './service.ts';

type Values = Record<string, string | number>;

/**
 * Something of the first account behind each path parameter, so that another tenant can be shown to reach none of it.
 * A new parameter wants an entry here.
 */
export async function makePossessions(
  service: TestService,
  operations: DocumentedOperation[],
): Promise<Values> {
  const values: Values = { project_id: 1, region_id: 1, clientId: 1, resellerId: 1 };
  const makers = possessionMakers(service, values);
  const wanted = operations.flatMap((of) => pathParameters(of).map(({ name }) => valueName(of, name)));
  for (const name of new Set(wanted)) {
    if (name in values) continue;
    const make = makers[name];
    if (!make) throw new Error(`test/support/possessions.ts makes nothing for the path parameter ${name}`);
    values[name] = await make();
  }
  return values;
}

/** The values for the path of one operation. */
export function valuesFor(of: DocumentedOperation, possessions: Values): Values {
  return Object.fromEntries(
    pathParameters(of).map(({ name }) => [name, possessions[valueName(of, name)] ?? 'missing']),
  );
}

/** What shares a name without being the same: AI tasks and platform tasks, free and paid features. */
function valueName({ path }: DocumentedOperation, parameter: string): string {
  if (parameter === 'task_id' && path.startsWith('/streaming/')) return 'ai_task_id';
  return parameter === 'activatedFeatureId' && path.includes('/free_') ? 'activatedFreeFeatureId' : parameter;
}

function possessionMakers(
  { http, ...service }: TestService,
  values: Values,
): Record<string, () => Promise<string | number>> {
  const made = async (path: string, body: object) => {
    const answer = await http.post(path, body);
    expect([200, 201], answer.text).toContain(answer.status);
    return answer.body;
  };
  const byTask = async (path: string, body: object) => {
    const [taskId] = await made(path, body);
    const task = await http.task(taskId);
    expect(task).toMatchObject({ state: 'FINISHED', error: null });
    values.task_id ??= taskId;
    return task.created_resources;
  };
  const first = async (path: string) => (await http.get(path)).body.results[0].id;
  const volume = async () =>
    (await byTask('/cloud/v1/volumes/1/1', { source: 'new-volume', name: 'kept', size: 1 })).volumes[0];
  const cluster = async () => {
    const parts = await clusterParts({ http, ...service });
    const { name, pools } = await makeCluster(http, parts.body());
    values.ssh_key_id = parts.keyId;
    values.file_share_id = parts.shareId;
    values.cluster_name = name;
    values.pool_name = pools[0].name;
  };
  const from = async (name: string, make: () => Promise<void>) => {
    if (!(name in values)) await make();
    return values[name] ?? 'missing';
  };

  return {
    group_id: async () =>
      (await made('/cloud/v1/securitygroups/1/1', { security_group: { name: 'kept' } })).id,
    cluster_name: () => from('cluster_name', cluster),
    pool_name: () => from('pool_name', cluster),
    ssh_key_id: () => from('ssh_key_id', cluster),
    file_share_id: () => from('file_share_id', cluster),
    volume_id: volume,
    task_id: () => from('task_id', async () => void (await volume())),
    snapshot_id: async () =>
      (await byTask('/cloud/v1/snapshots/1/1', { name: 'kept', volume_id: await volume() })).snapshots[0],
    network_id: () => first('/cloud/v1/networks/1/1'),
    subnet_id: () => first('/cloud/v1/subnets/1/1'),
    image_id: () => first('/cloud/v1/images/1/1'),
    instance_id: async () =>
      (
        await byTask('/cloud/v2/instances/1/1', {
          name: 'kept',
          flavor: 'g1-standard-1-2',
          interfaces: [{ type: 'any_subnet', network_id: await first('/cloud/v1/networks/1/1') }],
          volumes: [{ source: 'image', image_id: await first('/cloud/v1/images/1/1'), size: 20 }],
        })
      ).instances[0],
    ai_task_id: async () =>
      (
        await made('/streaming/ai/tasks', {
          task_name: 'transcription',
          url: 'https://media.example.com/kept.mp4',
        })
      ).task_id,
    tokenId: async () =>
      (
        await made('/iam/v2/clients/1/tokens', {
          name: 'kept',
          exp_date: null,
          client_user: { role: { name: 'Users' } },
        })
      ).id,
    featureId: async () => (await http.get('/iam/admin/feature')).body[0].id,
    activatedFeatureId: async () =>
      (await made('/iam/admin/paid_features', { client_id: 1, feature_id: 2 })).id,
    activatedFreeFeatureId: async () =>
      (await made('/iam/admin/free_features', { client_id: 1, feature_id: 22 })).id,
    notificationSettingsId: async () =>
      (
        await made('/iam/reselling/resellers/1/notification_settings', {
          notification_type: 'failed_login',
          email: 'kept@example.com',
        })
      ).id,
  };
}
