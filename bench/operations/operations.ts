import { UNIQUE } from '../load/job.ts';
import { clusterUpdate, clusterWithoutChange } from './clusters.ts';
import { instancePorts } from './instances.ts';
import type { Operation } from './operation.ts';

const READ = 0.8;
const CREATION = 0.7;
const GROUPS = '/cloud/v1/securitygroups/1/1';

const securityGroup = {
  name: UNIQUE,
  description: 'Made by the benchmark',
  tags: { made_by: 'bench' },
  security_group_rules: [22, 80, 443, 8080].map((port) => ({
    direction: 'ingress',
    ethertype: 'IPv4',
    protocol: 'tcp',
    port_range_min: port,
    port_range_max: port,
    remote_ip_prefix: '10.0.0.0/8',
  })),
};

const createSecurityGroup: Operation = {
  name: 'Create security group (4 rules)',
  target: CREATION,
  prepare: async (_api, pool) => ({
    method: 'POST',
    paths: [GROUPS],
    body: { security_group: securityGroup },
    async reset() {
      const { rowCount } = await pool.query(`delete from security_groups where name like 'bench-%'`);
      await pool.query(`update quota_usage set used = used - $1 where attribute = 'firewall_count'`, [rowCount]);
      await pool.query(`delete from wants where kind = 'security_group' and spec ->> 'name' like 'bench-%'`);
      for (const table of ['security_groups', 'security_group_rules', 'quota_usage', 'wants']) {
        await pool.query(`vacuum ${table}`);
      }
    },
  }),
};

const getSecurityGroup: Operation = {
  name: 'Get security group (6 rules)',
  target: READ,
  async prepare(api) {
    const body = { security_group: { ...securityGroup, name: 'read by the benchmark' } };
    const { id } = (await api.call('POST', GROUPS, body)) as { id: string };
    return { method: 'GET', paths: [`${GROUPS}/${id}`] };
  },
};

const previewPrice: Operation = {
  name: 'Volume price preview (no SQL)',
  target: READ,
  prepare: async () => ({
    method: 'POST',
    paths: ['/cloud/v1/pricing/1/1/volumes'],
    body: { source: 'new-volume', size: 100, type_name: 'standard' },
  }),
};

const listAiTasks: Operation = {
  name: 'List AI tasks (page of 10 of 60)',
  target: READ,
  async prepare(api) {
    const task = { task_name: 'transcription', url: 'https://example.com/video.mp4', audio_language: 'ger' };
    await Promise.all(Array.from({ length: 60 }, () => api.call('POST', '/streaming/ai/tasks', task)));
    return { method: 'GET', paths: ['/streaming/ai/tasks?limit=10'] };
  },
};

const listPaidFeatures: Operation = {
  name: 'List paid features',
  target: READ,
  async prepare(api) {
    const features = (await api.call('GET', '/iam/admin/feature')) as { id: number; is_free: boolean }[];
    for (const { id } of features.filter((feature) => !feature.is_free).slice(0, 3)) {
      await api.call('POST', '/iam/admin/paid_features', { client_id: 1, feature_id: id });
    }
    return { method: 'GET', paths: ['/iam/admin/paid_features'] };
  },
};

const updateNotification: Operation = {
  name: 'Update notification settings',
  target: READ,
  async prepare(api) {
    const base = '/iam/reselling/resellers/1/notification_settings';
    const body = { notification_type: 'failed_login', email: 'security@example.com', enabled: true };
    const { id } = (await api.call('POST', base, body)) as { id: number };
    return { method: 'PATCH', paths: [`${base}/${id}`], body };
  },
};

const getTask: Operation = {
  name: 'Get task',
  target: READ,
  async prepare(api) {
    const ids = (await api.call('POST', '/cloud/v1/file_shares/1/1', {
      name: 'of the benchmark',
      protocol: 'NFS',
      size: 10,
      type_name: 'vast',
    })) as string[];
    return { method: 'GET', paths: ids.map((id) => `/v1/tasks/${id}`) };
  },
};

/** Operations that start tasks come last: nothing works on the tasks that they leave. */
export const operations: readonly Operation[] = [
  createSecurityGroup,
  getSecurityGroup,
  previewPrice,
  instancePorts,
  listAiTasks,
  listPaidFeatures,
  updateNotification,
  getTask,
  clusterWithoutChange,
  clusterUpdate,
];
