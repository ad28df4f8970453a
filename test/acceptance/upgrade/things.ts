import type { Answer, HttpClient } from '../../support/http-client.ts';

const IMAGE = 'd30931af-8845-4913-a690-021a990a917f';
const BOOT = { source: 'image', image_id: IMAGE, size: 10, boot_index: 0, delete_on_termination: true };

/** Makes something of every kind, with every feature that a row can have, one after the other. */
export async function makeThings(http: HttpClient): Promise<void> {
  async function done(answer: Answer): Promise<Answer['body']> {
    if (answer.status >= 300) throw new Error(`${answer.status} ${answer.text}`);
    const id = answer.body?.tasks?.[0] ?? answer.body?.[0];
    if (id === undefined) return answer.body;
    const task = await http.task(id);
    if (task.state !== 'FINISHED') throw new Error(`${task.task_type}: ${task.error}`);
    return task.created_resources;
  }
  const post = async (path: string, body: object) => done(await http.post(`/cloud/${path}`, body));
  const make = async (path: string, body: object): Promise<string> => {
    const { ports, floatingips, instances, ...made } = await post(`${path}/1/1`, body);
    return (instances ?? floatingips ?? ports ?? Object.values(made)[0])[0];
  };
  const portOf = async (instance: string): Promise<string> =>
    (await http.get(`/cloud/v1/instances/1/1/${instance}/interfaces`)).body.results[0].port_id;

  await post('v1/ssh_keys/1', { name: 'key one', shared_in_project: true });
  const security_group_rules = [
    { direction: 'ingress', ethertype: 'IPv4', protocol: 'tcp', port_range_min: 80, port_range_max: 81 },
    { direction: 'ingress', ethertype: 'IPv6', protocol: 'icmp', description: 'ping' },
    { direction: 'egress', ethertype: 'IPv4', remote_ip_prefix: '10.0.0.0/8' },
  ];
  const group = await post('v1/securitygroups/1/1', {
    security_group: { name: 'web', description: 'for the web', security_group_rules },
  });

  const network_id = await make('v1/networks', { name: 'net', create_router: false, tags: { a: 'b' } });
  const inside = { network_id, connect_to_network_router: false };
  const subnet_id = await make('v1/subnets', {
    ...inside,
    name: 'full',
    cidr: '192.168.10.0/24',
    dns_nameservers: ['9.9.9.9'],
    host_routes: [{ destination: '10.9.0.0/16', nexthop: '192.168.10.7' }],
    tags: { s: '1' },
  });
  await make('v1/subnets', { ...inside, name: 'six', cidr: 'fd00:10::/64' });
  const bare = { ...inside, name: 'bare', cidr: '192.168.11.0/24', gateway_ip: null, enable_dhcp: false };
  await make('v1/subnets', bare);
  const here = { type: 'subnet', network_id, subnet_id };

  const blank = await make('v1/volumes', { name: 'blank', source: 'new-volume', size: 2, tags: { v: '1' } });
  const imaged = await make('v1/volumes', { name: 'imaged', source: 'image', image_id: IMAGE, size: 10 });
  const snapshot_id = await make('v1/snapshots', { name: 'shot', volume_id: blank, tags: { k: 'v' } });
  const copy = await make('v1/volumes', { name: 'copy', source: 'snapshot', snapshot_id });
  const image_id = await make('v1/images', {
    name: 'own',
    volume_id: imaged.toUpperCase(),
    tags: { i: '1' },
  });
  await make('v1/volumes', { name: 'of own', source: 'image', image_id, size: 10 });

  const instance = (body: object): Promise<string> =>
    make('v2/instances', { flavor: 'g1-standard-1-2', interfaces: [here], volumes: [BOOT], ...body });
  const plain = await instance({ name: 'plain', ssh_key_name: 'key one', tags: { m: '1' } });
  await instance({
    name: 'rich',
    username: 'me',
    interfaces: [
      { ...here, floating_ip: { source: 'new' }, security_groups: [{ id: group.id }] },
      { type: 'external' },
      { type: 'any_subnet', network_id, ip_family: 'dual' },
    ],
    volumes: [
      { ...BOOT, name: 'boot' },
      { source: 'new-volume', size: 1, attachment_tag: 'data' },
      { source: 'existing-volume', volume_id: imaged, boot_index: 1 },
      { source: 'snapshot', snapshot_id, size: 2 },
    ],
  });
  // The second volume boots, so it is the first device.
  const { boot_index: _, ...unsaid } = BOOT;
  await instance({ name: 'data first', volumes: [{ source: 'snapshot', snapshot_id, size: 2 }, unsaid] });
  const stopped = await instance({ name: 'stopped' });
  await post(`v2/instances/1/1/${stopped}/action`, { action: 'stop' });
  const suspended = await instance({ name: 'suspended' });
  await post(`v2/instances/1/1/${suspended}/action`, { action: 'suspend' });
  await post(`v2/volumes/1/1/${copy}/attach`, { instance_id: plain, attachment_tag: 'later' });

  await make('v1/reserved_fixed_ips', { type: 'subnet', subnet_id });
  await make('v1/reserved_fixed_ips', { type: 'port', port_id: await portOf(suspended) });
  const vip = await make('v1/reserved_fixed_ips', { type: 'subnet', subnet_id, is_vip: true });
  const port_id = await portOf(plain);
  const devices = `/cloud/v1/reserved_fixed_ips/1/1/${vip}/connected_devices`;
  await done(await http.patch(devices, { port_ids: [port_id] }));
  const floatingIp = await make('v1/floatingips', { tags: { f: '1' } });
  await post(`v1/floatingips/1/1/${floatingIp}/assign`, { port_id });
  await make('v1/floatingips', {});

  const share = { protocol: 'NFS', size: 10 };
  await make('v1/file_shares', {
    ...share,
    name: 'vast',
    type_name: 'vast',
    share_settings: { root_squash: false, path_length: 'NPL' },
  });
  const { networks } = await post('v1/networks/1/2', { name: 'net', create_router: false });
  const [other] = networks;
  await post('v1/subnets/1/2', { ...inside, network_id: other, name: 'net', cidr: '10.50.0.0/24' });
  const { file_shares } = await post('v1/file_shares/1/2', {
    ...share,
    name: 'standard',
    type_name: 'standard',
    network: { network_id: other },
    access: [{ ip_address: '10.50.0.7', access_mode: 'ro' }],
    tags: { x: 'y' },
  });
  const rule = { ip_address: '10.50.0.0/28', access_mode: 'rw' };
  await post(`v1/file_shares/1/2/${file_shares[0]}/access_rule`, rule);

  const pool = { flavor_id: 'g1-standard-2-4', max_node_count: 3, boot_volume_size: 50 };
  await post('v1/k8s/clusters/1/1', {
    name: 'full',
    version: 'v1.32.13',
    keypair: 'key one',
    fixed_network: network_id,
    fixed_subnet: subnet_id,
    is_ipv6: true,
    csi: { nfs: { vast_enabled: true } },
    cni: { provider: 'cilium' },
    autoscaler_config: { 'scan-interval': '20s' },
    authentication: { oidc: { issuer_url: 'https://issuer.example.com', client_id: 'me' } },
    pools: [
      {
        ...pool,
        name: 'first',
        min_node_count: 2,
        boot_volume_type: 'standard',
        servergroup_policy: 'anti-affinity',
        is_public_ipv4: true,
        security_group_ids: [group.id],
        labels: { l: '1' },
        taints: { t: 'x:NoSchedule' },
        kubelet_config: { podMaxPids: '50' },
      },
      { name: 'metal', flavor_id: 'bm3-ai-8xlarge-gpu-h100-8', min_node_count: 1 },
    ],
  });
}
