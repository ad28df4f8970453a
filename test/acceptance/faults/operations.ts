import { type Makers, type Prepared, storedSecret, vastShare } from './makers.ts';

type Operations = Record<string, (makers: Makers) => Promise<Prepared>>;

const STORAGE: Operations = {
  'create volume': async ({ http, on, name }) => {
    return () => http.post(on('volumes'), { source: 'new-volume', name: name(), size: 1, tags: { a: 'b' } });
  },
  'create volume of an image': async ({ http, on, name, make }) => {
    const image_id = await make.image(await make.bootVolume());
    return () => http.post(on('volumes'), { source: 'image', image_id, name: name(), size: 20 });
  },
  'create volume of a snapshot': async ({ http, on, name, make }) => {
    const snapshot_id = await make.snapshot(await make.volume());
    return () => http.post(on('volumes'), { source: 'snapshot', snapshot_id, name: name() });
  },
  'create volume on an instance': async ({ http, on, name, make }) => {
    const { id } = await make.instance();
    const body = { source: 'new-volume', name: name(), size: 1, instance_id_to_attach_to: id };
    return () => http.post(on('volumes'), body);
  },
  'extend volume': async ({ http, on, make }) => {
    const id = await make.volume();
    return () => http.post(`${on('volumes')}/${id}/extend`, { size: 2 });
  },
  'retype volume': async ({ http, on, make }) => {
    const id = await make.volume();
    return () => http.post(`${on('volumes')}/${id}/retype`, { volume_type: 'ssd_hiiops' });
  },
  'revert volume': async ({ http, on, make }) => {
    const id = await make.volume();
    await make.snapshot(id);
    return () => http.post(`${on('volumes')}/${id}/revert`, {});
  },
  'attach volume': async ({ http, on, make }) => {
    const [id, { id: instance_id }] = [await make.volume(), await make.instance()];
    return () => http.post(`${on('volumes', 'v2')}/${id}/attach`, { instance_id });
  },
  'detach volume': async ({ http, on, make, act }) => {
    const [id, { id: instance_id }] = [await make.volume(), await make.instance()];
    await act(`${on('volumes', 'v2')}/${id}/attach`, { instance_id });
    return () => http.post(`${on('volumes', 'v2')}/${id}/detach`, { instance_id });
  },
  'change volume': async ({ http, on, name, make }) => {
    const id = await make.volume();
    return () => http.patch(`${on('volumes')}/${id}`, { name: name(), tags: { a: 'b' } });
  },
  'delete volume': async ({ http, on, make }) => {
    const id = await make.volume();
    return () => http.delete(`${on('volumes')}/${id}`);
  },
  'delete volume with its snapshots': async ({ http, on, make }) => {
    const id = await make.volume();
    const snapshots = [await make.snapshot(id), await make.snapshot(id)];
    return () => http.delete(`${on('volumes')}/${id}?snapshots=${snapshots.join(',')}`);
  },
  'create snapshot': async ({ http, on, name, make }) => {
    const volume_id = await make.volume();
    return () => http.post(on('snapshots'), { name: name(), volume_id });
  },
  'change snapshot': async ({ http, on, name, make }) => {
    const id = await make.snapshot(await make.volume());
    return () => http.patch(`${on('snapshots')}/${id}`, { name: name() });
  },
  'delete snapshot': async ({ http, on, make }) => {
    const id = await make.snapshot(await make.volume());
    return () => http.delete(`${on('snapshots')}/${id}`);
  },
  'create image': async ({ http, on, name, make }) => {
    const volume_id = await make.bootVolume();
    return () => http.post(on('images'), { name: name(), volume_id });
  },
  'change image': async ({ http, on, name, make }) => {
    const id = await make.image(await make.bootVolume());
    return () => http.patch(`${on('images')}/${id}`, { name: name() });
  },
  'download image': async ({ http, on, name }) => {
    const body = { name: name(), url: 'https://images.example.com/a.qcow2' };
    return () => http.post(on('downloadimage'), body);
  },
  'delete image': async ({ http, on, make }) => {
    const id = await make.image(await make.bootVolume());
    return () => http.delete(`${on('images')}/${id}`);
  },
};

const action =
  (wanted: string, before?: string) =>
  async ({ http, on, make, act }: Makers): Promise<Prepared> => {
    const { id } = await make.instance();
    const path = `${on('instances', 'v2')}/${id}/action`;
    if (before !== undefined) await act(path, { action: before });
    return () => http.post(path, { action: wanted });
  };

const COMPUTE: Operations = {
  'create instance': async ({ http, on, instanceBody, make }) => {
    const volumes = [
      ...(await instanceBody()).volumes,
      { source: 'existing-volume', volume_id: await make.volume() },
      { source: 'new-volume', name: 'data', size: 1 },
    ];
    const body = await instanceBody({ volumes, interfaces: [{ type: 'external' }, { type: 'external' }] });
    return () => http.post(on('instances', 'v2'), body);
  },
  'create instance with a new floating IP': async ({ http, on, instanceBody }) => {
    const { interfaces } = await instanceBody();
    const body = await instanceBody({
      interfaces: interfaces.map((one) => ({ ...one, floating_ip: { source: 'new' } })),
    });
    return () => http.post(on('instances', 'v2'), body);
  },
  'start instance': action('start', 'stop'),
  'stop instance': action('stop'),
  'reboot instance': action('reboot'),
  'reboot instance the hard way': action('reboot_hard'),
  'suspend instance': action('suspend'),
  'resume instance': action('resume', 'suspend'),
  'change flavor': async ({ http, on, make }) => {
    const { id } = await make.instance();
    return () => http.post(`${on('instances')}/${id}/changeflavor`, { flavor_id: 'g1-standard-2-4' });
  },
  'change instance': async ({ http, on, name, make }) => {
    const { id } = await make.instance();
    return () => http.patch(`${on('instances')}/${id}`, { name: name() });
  },
  'attach interface': async ({ http, on, make }) => {
    const { id } = await make.instance();
    return () => http.post(`${on('instances')}/${id}/attach_interface`, { type: 'external' });
  },
  'attach reserved address': async ({ http, on, make }) => {
    const [{ id }, port_id] = [await make.instance(), await make.reserved()];
    const body = { type: 'reserved_fixed_ip', port_id };
    return () => http.post(`${on('instances')}/${id}/attach_interface`, body);
  },
  'detach interface': async ({ http, on, make }) => {
    const { id } = await make.instance({ interfaces: [{ type: 'external' }, { type: 'external' }] });
    const path = `${on('instances')}/${id}`;
    const { body } = await http.get(`${path}/interfaces`);
    const [{ port_id, ip_assignments }] = body.results;
    const { ip_address } = ip_assignments[0];
    return () => http.post(`${path}/detach_interface`, { port_id, ip_address });
  },
  'delete instance': async ({ http, on, make }) => {
    const { id } = await make.instance();
    return () => http.delete(`${on('instances')}/${id}`);
  },
  'delete instance with its volume and floating IP': async ({ http, on, make }) => {
    const { id, port, volume } = await make.instance();
    const floating = await make.floating({ port_id: port });
    return () => http.delete(`${on('instances')}/${id}?volumes=${volume}&floatings=${floating}`);
  },
};

const NETWORKS: Operations = {
  'create network': async ({ http, on, name }) => {
    return () => http.post(on('networks'), { name: name(), create_router: false });
  },
  'create network with its router': async ({ http, on, name }) => {
    return () => http.post(on('networks'), { name: name() });
  },
  'create router': async ({ http, on, name, make }) => {
    const subnet_id = await make.subnet(await make.network());
    const body = { name: name(), external_gateway_info: {}, interfaces: [{ subnet_id }] };
    return () => http.post(on('routers'), body);
  },
  'change router': async ({ http, on, name, make }) => {
    const id = await make.router();
    return () => http.patch(`${on('routers')}/${id}`, { name: name(), external_gateway_info: null });
  },
  'change router by task': async ({ http, on, make }) => {
    const id = await make.router();
    return () => http.patch(`${on('routers', 'v2')}/${id}`, { external_gateway_info: null });
  },
  'delete router': async ({ http, on, make }) => {
    const id = await make.router(await make.subnet(await make.network()));
    return () => http.delete(`${on('routers')}/${id}`);
  },
  'attach subnet to router': async ({ http, on, make }) => {
    const [id, subnet_id] = [await make.router(), await make.subnet(await make.network())];
    return () => http.post(`${on('routers')}/${id}/attach`, { subnet_id });
  },
  'detach subnet from router': async ({ http, on, make }) => {
    const subnet_id = await make.subnet(await make.network());
    const id = await make.router(subnet_id);
    return () => http.post(`${on('routers')}/${id}/detach`, { subnet_id });
  },
  'change network': async ({ http, on, name, make }) => {
    const id = await make.network();
    return () => http.patch(`${on('networks')}/${id}`, { name: name() });
  },
  'change network by task': async ({ http, on, make }) => {
    const id = await make.network();
    return () => http.patch(`${on('networks', 'v2')}/${id}`, { tags: { a: 'b' } });
  },
  'delete network': async ({ http, on, make }) => {
    const id = await make.network();
    await make.subnet(id);
    return () => http.delete(`${on('networks')}/${id}`);
  },
  'create subnet': async ({ http, on, name, make }) => {
    const network_id = await make.network();
    return () => http.post(on('subnets'), { name: name(), network_id, cidr: '10.10.0.0/24' });
  },
  'change subnet': async ({ http, on, name, make }) => {
    const id = await make.subnet(await make.network());
    return () => http.patch(`${on('subnets')}/${id}`, { name: name(), gateway_ip: null });
  },
  'delete subnet': async ({ http, on, make }) => {
    const id = await make.subnet(await make.network());
    return () => http.delete(`${on('subnets')}/${id}`);
  },
  'change port': async ({ http, on, make }) => {
    const [{ port }, group] = [await make.instance(), await make.group()];
    return () => http.patch(`${on('ports')}/${port}`, { tags: { a: 'b' }, security_group_ids: [group] });
  },
  'create security group': async ({ http, on, name }) => {
    return () => http.post(on('securitygroups'), { security_group: { name: name() } });
  },
  'create security group by task': async ({ http, on, name }) => {
    const rules = [{ direction: 'ingress', protocol: 'tcp', port_range_min: 80, port_range_max: 80 }];
    return () => http.post(on('security_groups', 'v2'), { name: name(), rules });
  },
  'add security group rule': async ({ http, on, make }) => {
    const id = await make.group();
    const rule = { direction: 'ingress', protocol: 'udp', port_range_min: 53, port_range_max: 53 };
    return () => http.post(`${on('securitygroups')}/${id}/rules`, rule);
  },
  'add security group rule by task': async ({ http, on, make }) => {
    const id = await make.group();
    const rule = { direction: 'ingress', protocol: 'udp', port_range_min: 53, port_range_max: 53 };
    return () => http.post(`${on('security_groups', 'v2')}/${id}/rules`, rule);
  },
  'delete security group': async ({ http, on, make }) => {
    const id = await make.group();
    return () => http.delete(`${on('securitygroups')}/${id}`);
  },
  'create floating IP': async ({ http, on }) => {
    return () => http.post(on('floatingips'), {});
  },
  'create floating IP on a port': async ({ http, on, make }) => {
    const { port } = await make.instance();
    return () => http.post(on('floatingips'), { port_id: port });
  },
  'assign floating IP': async ({ http, on, make }) => {
    const [id, { port }] = [await make.floating(), await make.instance()];
    return () => http.patch(`${on('floatingips', 'v2')}/${id}`, { port_id: port });
  },
  'take a floating IP off its port': async ({ http, on, make }) => {
    const { port } = await make.instance();
    const id = await make.floating({ port_id: port });
    return () => http.patch(`${on('floatingips', 'v2')}/${id}`, { port_id: null });
  },
  'delete floating IP': async ({ http, on, make }) => {
    const id = await make.floating();
    return () => http.delete(`${on('floatingips')}/${id}`);
  },
  'reserve address': async ({ http, on }) => {
    return () => http.post(on('reserved_fixed_ips'), { type: 'external' });
  },
  'make a reserved address virtual': async ({ http, on, make }) => {
    const id = await make.reserved();
    return () => http.patch(`${on('reserved_fixed_ips')}/${id}`, { is_vip: true });
  },
  'convert reserved address': async ({ http, on, make }) => {
    const id = await make.reserved();
    return () => http.post(`${on('reserved_fixed_ips')}/${id}/convert`, { target_type: 'floating_ip' });
  },
  'convert floating IP': async ({ http, on, make }) => {
    const id = await make.floating();
    return () => http.post(`${on('floatingips')}/${id}/convert`, { target_type: 'reserved_fixed_ip' });
  },
  'give reserved address back': async ({ http, on, make }) => {
    const id = await make.reserved();
    return () => http.delete(`${on('reserved_fixed_ips')}/${id}`);
  },
};

const profileBody = (ip_address: string, ports = [45046]) => ({
  profile_template: 29,
  ip_address,
  fields: [{ base_field: 10, field_value: ports }],
});

const PROFILES: Operations = {
  'create DDoS profile': async ({ http, on, make }) => {
    const body = profileBody(await make.publicAddress());
    return () => http.post(on('ddos/profiles'), body);
  },
  'change DDoS profile': async ({ http, on, make }) => {
    const { id, address } = await make.profile(profileBody);
    return () => http.patch(`${on('ddos/profiles')}/${id}`, profileBody(address, [45047]));
  },
  'deactivate DDoS profile': async ({ http, on, make }) => {
    const { id } = await make.profile(profileBody);
    return () => http.post(`${on('ddos/profiles')}/${id}/action`, { active: false, bgp: true });
  },
  'delete DDoS profile': async ({ http, on, make }) => {
    const { id } = await make.profile(profileBody);
    return () => http.delete(`${on('ddos/profiles')}/${id}`);
  },
};

const SHARES: Operations = {
  'create file share': async ({ http, on, name }) => {
    const body = vastShare(name());
    return () => http.post(on('file_shares'), body);
  },
  'extend file share': async ({ http, on, make }) => {
    const id = await make.share();
    return () => http.post(`${on('file_shares')}/${id}/extend`, { size: 20 });
  },
  'change file share': async ({ http, on, name, make }) => {
    const id = await make.share();
    return () => http.patch(`${on('file_shares')}/${id}`, { name: name() });
  },
  'delete file share': async ({ http, on, make }) => {
    const id = await make.share();
    return () => http.delete(`${on('file_shares')}/${id}`);
  },
};

const PLACEMENT: Operations = {
  'create instance in a placement group': async ({ http, on, instanceBody, make }) => {
    const body = await instanceBody({ servergroup_id: await make.placement() });
    return () => http.post(on('instances', 'v2'), body);
  },
  'put into placement group': async ({ http, on, make }) => {
    const [{ id }, servergroup_id] = [await make.instance(), await make.placement()];
    return () => http.post(`${on('instances')}/${id}/put_into_servergroup`, { servergroup_id });
  },
  'remove from placement group': async ({ http, on, make }) => {
    const { id } = await make.instance({ servergroup_id: await make.placement() });
    return () => http.post(`${on('instances')}/${id}/remove_from_servergroup`);
  },
  'create placement group': async ({ http, on, name }) => {
    return () => http.post(on('servergroups'), { name: name(), policy: 'affinity' });
  },
  'delete placement group': async ({ http, on, make }) => {
    const id = await make.placement();
    return () => http.delete(`${on('servergroups')}/${id}`);
  },
};

const SECRETS: Operations = {
  'store secret': async ({ http, on, name }) => {
    const body = storedSecret(name());
    return () => http.post(on('secrets'), body);
  },
  'delete secret': async ({ http, on, make }) => {
    const id = await make.secret();
    return () => http.delete(`${on('secrets')}/${id}`);
  },
};

/** A pool in addition to the cluster's first one. */
const pool = (name: string) => ({
  name,
  flavor_id: 'g1-standard-2-4',
  min_node_count: 1,
  max_node_count: 3,
  boot_volume_size: 50,
  boot_volume_type: 'standard',
  servergroup_policy: 'anti-affinity',
});

const CLUSTERS: Operations = {
  'create cluster': async ({ http, on, newCluster }) => {
    const body = await newCluster();
    return () => http.post(on('k8s/clusters'), body);
  },
  'change cluster': async ({ http, on, make }) => {
    const name = await make.cluster();
    return () => http.patch(`${on('k8s/clusters')}/${name}`, { autoscaler_config: { 'scan-interval': '20s' } });
  },
  'add pool': async ({ http, on, make }) => {
    const name = await make.cluster();
    return () => http.post(`${on('k8s/clusters')}/${name}/pools`, pool('more'));
  },
  'resize pool': async ({ http, on, make, act }) => {
    const pools = `${on('k8s/clusters')}/${await make.cluster()}/pools`;
    await act(pools, pool('more'));
    return () => http.post(`${pools}/more/resize`, { node_count: 2 });
  },
  'change pool': async ({ http, on, make }) => {
    const pools = `${on('k8s/clusters')}/${await make.cluster()}/pools`;
    const [{ name: first }] = (await http.get(pools)).body.results;
    return () => http.patch(`${pools}/${first}`, { labels: { a: 'b' } });
  },
  'delete pool': async ({ http, on, make, act }) => {
    const pools = `${on('k8s/clusters')}/${await make.cluster()}/pools`;
    await act(pools, pool('more'));
    return () => http.delete(`${pools}/more`);
  },
  'upgrade cluster': async ({ http, on, make }) => {
    const path = `${on('k8s/clusters')}/${await make.cluster()}`;
    const { body } = await http.get(`${path}/upgrade_versions`);
    return () => http.post(`${path}/upgrade`, { version: body.results[0].version });
  },
  'delete cluster': async ({ http, on, make }) => {
    const name = await make.cluster();
    return () => http.delete(`${on('k8s/clusters')}/${name}`);
  },
};

/**
 * Every operation that wants something of infrastructure, by name: prepared first, then called while faults
 * occur.
 */
const BALANCERS: Operations = {
  'create load balancer': async ({ http, on, name, make }) => {
    const vip_network_id = await make.network();
    await make.router(await make.subnet(vip_network_id));
    const body = { name: name(), vip_network_id, floating_ip: { source: 'new' } };
    return () => http.post(on('loadbalancers'), body);
  },
  'create load balancer at a reserved address': async ({ http, on, name, make }) => {
    const vip_port_id = await make.reserved();
    return () => http.post(on('loadbalancers'), { name: name(), vip_port_id });
  },
  'change load balancer': async ({ http, on, name, make }) => {
    const { id } = await make.balancer();
    return () => http.patch(`${on('loadbalancers', 'v2')}/${id}`, { name: name(), tags: { a: 'b' } });
  },
  'resize load balancer': async ({ http, on, make }) => {
    const { id } = await make.balancer();
    return () => http.post(`${on('loadbalancers')}/${id}/resize`, { flavor: 'lb1-2-4' });
  },
  'fail over load balancer': async ({ http, on, make }) => {
    const { id } = await make.balancer();
    return () => http.post(`${on('loadbalancers')}/${id}/failover`, {});
  },
  'delete load balancer': async ({ http, on, make }) => {
    const vip_network_id = await make.network();
    await make.router(await make.subnet(vip_network_id));
    const { id } = await make.balancer({ vip_network_id, floating_ip: { source: 'new' } });
    return () => http.delete(`${on('loadbalancers')}/${id}`);
  },
  'create listener': async ({ http, on, name, make }) => {
    const { id: load_balancer_id } = await make.balancer();
    const body = { name: name(), load_balancer_id, protocol: 'TCP', protocol_port: 22 };
    return () => http.post(on('lblisteners'), body);
  },
  'change listener': async ({ http, on, make }) => {
    const { listener } = await make.balancer();
    return () => http.patch(`${on('lblisteners', 'v2')}/${listener}`, { connection_limit: 5 });
  },
  'delete listener with its pool': async ({ http, on, make }) => {
    const { listener } = await make.balancer();
    await make.policy(listener);
    return () => http.delete(`${on('lblisteners')}/${listener}?delete_default_pool=true`);
  },
  'change pool of load balancer': async ({ http, on, make }) => {
    const { pool } = await make.balancer();
    const members = [{ address: '10.9.0.2', protocol_port: 80 }];
    return () => http.patch(`${on('lbpools', 'v2')}/${pool}`, { members, healthmonitor: null });
  },
  'delete pool of load balancer': async ({ http, on, make }) => {
    const { pool } = await make.balancer();
    return () => http.delete(`${on('lbpools')}/${pool}`);
  },
  'add pool member': async ({ http, on, make }) => {
    const { pool } = await make.balancer();
    const body = { address: '10.9.0.2', protocol_port: 80 };
    return () => http.post(`${on('lbpools')}/${pool}/member`, body);
  },
  'remove pool member': async ({ http, on, make }) => {
    const { pool, member } = await make.balancer();
    return () => http.delete(`${on('lbpools')}/${pool}/member/${member}`);
  },
  'change pool member': async ({ http, on, make }) => {
    const { pool, member } = await make.balancer();
    return () => http.patch(`${on('loadbalancers')}/pools/${pool}/members/${member}`, { weight: 5 });
  },
  'replace pool members': async ({ http, on, make }) => {
    const { pool } = await make.balancer();
    const body = ['10.9.0.2', '10.9.0.3'].map((address) => ({ address, protocol_port: 80 }));
    return () => http.request('PUT', `${on('loadbalancers')}/pools/${pool}/members`, { body });
  },
  'change health monitor': async ({ http, on, make }) => {
    const { pool } = await make.balancer();
    return () => http.patch(`${on('lbpools')}/${pool}/healthmonitor`, { delay: 60 });
  },
  'remove health monitor': async ({ http, on, make }) => {
    const { pool } = await make.balancer();
    return () => http.delete(`${on('lbpools')}/${pool}/healthmonitor`);
  },
  'create L7 policy': async ({ http, on, make }) => {
    const { listener: listener_id, pool: redirect_pool_id } = await make.balancer();
    await make.policy(listener_id);
    const body = { listener_id, action: 'REDIRECT_TO_POOL', redirect_pool_id, position: 1 };
    return () => http.post(on('l7policies'), body);
  },
  'create L7 rule': async ({ http, on, make }) => {
    const policy = await make.policy((await make.balancer()).listener);
    const rule = { type: 'PATH', compare_type: 'STARTS_WITH', value: '/images' };
    return () => http.post(`${on('l7policies')}/${policy}/rules`, rule);
  },
  'delete L7 policy': async ({ http, on, make }) => {
    const policy = await make.policy((await make.balancer()).listener);
    return () => http.delete(`${on('l7policies')}/${policy}`);
  },
};

export const OPERATIONS: Operations = {
  ...STORAGE,
  ...COMPUTE,
  ...NETWORKS,
  ...BALANCERS,
  ...PROFILES,
  ...SHARES,
  ...PLACEMENT,
  ...SECRETS,
  ...CLUSTERS,
};
