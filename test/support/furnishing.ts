import { expect } from 'vitest';
import type { HttpClient } from './http-client.ts';
import { tlsBundle } from './tls-bundles.ts';

/**
 * Makes something of every kind in a project, in use by one another where that is possible: whatever deletes it needs the
 * right order. A cluster takes seconds.
 */
export async function furnish(http: HttpClient, projectId: number, { clusters = true } = {}): Promise<void> {
  const at = (kind: string) => `/cloud/v1/${kind}/${projectId}/1`;
  const made = async (path: string, body: object, method = 'POST') => {
    const answer = await http.request(method, path, { body });
    expect([200, 201], `${path}: ${answer.text}`).toContain(answer.status);
    return answer.body;
  };
  const byTask = async (path: string, body: object) => {
    const task = await http.task((await made(path, body))[0]);
    expect(task, path).toMatchObject({ state: 'FINISHED', error: null });
    return task.created_resources;
  };
  const first = async (path: string) => (await http.get(path)).body.results[0].id;
  const group = async (name: string, remote?: string) =>
    (
      await made(at('securitygroups'), {
        security_group: {
          name,
          security_group_rules: remote
            ? [{ direction: 'ingress', ethertype: 'IPv4', protocol: 'tcp', remote_group_id: remote }]
            : [],
        },
      })
    ).id;

  const key = await made(`/cloud/v1/ssh_keys/${projectId}`, { name: 'my-key', shared_in_project: false });
  const one = await group('one');
  const other = await group('other', one);
  const rule = { direction: 'ingress', ethertype: 'IPv4', protocol: 'udp', remote_group_id: other };
  await made(`${at('securitygroups')}/${one}/rules`, rule);

  const { networks } = await byTask(at('networks'), { name: 'private', create_router: true });
  const inPrivate = { network_id: networks[0] };
  await byTask(at('subnets'), { ...inPrivate, name: 'private', cidr: '10.77.0.0/24' });
  await byTask(at('routers'), { name: 'lonely' });
  await byTask(at('reserved_fixed_ips'), { type: 'external' });
  const standard = await first(`${at('networks')}?name=default`);
  await byTask(at('subnets'), { network_id: standard, name: 'second', cidr: '10.88.0.0/24' });

  const placement = await made(at('servergroups'), { name: 'apart', policy: 'anti-affinity' });
  const { instances, ports } = await byTask(`/cloud/v2/instances/${projectId}/1`, {
    name: 'web',
    flavor: 'g1-standard-1-2',
    ssh_key_name: key.name,
    servergroup_id: placement.servergroup_id,
    interfaces: [{ type: 'any_subnet', network_id: standard, security_groups: [{ id: one }] }],
    volumes: [{ source: 'image', image_id: await first(at('images')), size: 20 }],
  });
  const { floatingips } = await byTask(at('floatingips'), { port_id: ports[0] });
  const floating = await http.get(`${at('floatingips')}/${floatingips[0]}`);
  await byTask(at('ddos/profiles'), {
    profile_template: 29,
    ip_address: floating.body.floating_ip_address,
    fields: [{ base_field: 10, field_value: [45_046] }],
  });

  const { volumes } = await byTask(at('volumes'), {
    source: 'new-volume',
    name: 'data',
    size: 1,
    instance_id_to_attach_to: instances[0],
  });
  await byTask(at('snapshots'), { name: 'yesterday', volume_id: volumes[0] });
  const image_id = await first(at('images'));
  const spare = await byTask(at('volumes'), { source: 'image', image_id, name: 'spare', size: 10 });
  await byTask(at('images'), { name: 'mine', volume_id: spare.volumes[0] });

  await byTask(`/cloud/v2/secrets/${projectId}/1`, { name: 'tls', payload: await tlsBundle() });
  await byTask(at('loadbalancers'), { name: 'front' });
  await made(`${at('laas')}/status`, { is_initialized: true }, 'PATCH');
  await made(`${at('laas')}/topics`, { name: 'web' }, 'PUT');
  await byTask(at('file_shares'), {
    name: 'share',
    protocol: 'NFS',
    size: 10,
    type_name: 'vast',
    share_settings: { root_squash: false, path_length: 'NPL', allowed_characters: 'NPL' },
  });
  if (clusters) {
    await made(`/cloud/v1/ssh_keys/${projectId}`, { name: 'of-cluster' });
    await byTask(`/cloud/v1/k8s/clusters/${projectId}/1`, {
      name: 'demo',
      version: 'v1.32.13',
      keypair: 'of-cluster',
      pools: [{ name: 'gpu', flavor_id: 'bm3-ai-8xlarge-gpu-h100-8', min_node_count: 1 }],
    });
  }
}
