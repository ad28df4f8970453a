import type pg from 'pg';
import { meteringNever } from './metering-invariants.ts';
import { WANTS_NEVER } from './wants-invariants.ts';

/**
 * Queries for states that must never occur, whatever was requested at the same time. Each key describes the
 * rows.
 */
const NEVER: Record<string, string> = {
  'addresses outside of what their subnet hands out': `
    select subnet_id, address from ip_assignments join subnets on subnets.id = subnet_id
    where address not between first_address and last_address`,
  // External ones keep no counts.
  'subnets whose count of taken addresses is wrong': `
    select id, used_ips, (select count(*) from ip_assignments where subnet_id = subnets.id) as taken
    from subnets where used_ips <> (select count(*) from ip_assignments where subnet_id = subnets.id)
      and network_id in (select id from networks where not external)`,
  'subnets that skip a free address': `
    select id, first_address, free_from from subnets
    where free_from - first_address > (
      select count(*) from ip_assignments where subnet_id = subnets.id and address < free_from)
      and network_id in (select id from networks where not external)`,
  'subnets of one network that overlap': `
    select one.id, other.id from subnets one join subnets other using (network_id)
    where one.id < other.id and one.cidr && other.cidr`,
  'gateways that a port has as its address': `
    select subnet_id, address from ip_assignments join subnets on subnets.id = subnet_id
    where address = gateway_ip and port_id is not null`,
  'gateways that a port could get': `
    select id, gateway_ip from subnets where gateway_ip between first_address and last_address
      and not exists (select from ip_assignments where subnet_id = subnets.id and address = gateway_ip)`,
  'addresses that nobody has': `
    select subnet_id, address from ip_assignments join subnets on subnets.id = subnet_id
    where port_id is null and floating_ip_id is null and router_id is null and address is distinct from gateway_ip`,
  'addresses of another family than their subnet': `
    select subnet_id, address from ip_assignments join subnets on subnets.id = subnet_id
    where family(address) <> family(cidr)`,
  'floating IPs whose address is not theirs, or not IPv4': `
    select id, address from floating_ips where family(address) <> 4 or family(fixed_address) <> 4
      or not exists (select from ip_assignments where floating_ip_id = floating_ips.id and address = floating_ips.address)`,
  // Networks that the platform routes need no router.
  'floating IPs without a way out': `
    select floating_ips.id from floating_ips
    join ip_assignments as assigned on assigned.port_id = floating_ips.port_id and assigned.address = fixed_address
    join subnets on subnets.id = assigned.subnet_id join networks on networks.id = network_id
    where not exists (
      select from router_interfaces join routers on routers.id = router_interfaces.router_id
      where subnet_id = subnets.id and gateway_network_id is not null)
    and not (platform_routed and not exists (select from router_interfaces where subnet_id = subnets.id))`,
  'routers without an address outside, or with one too many': `
    select routers.id, gateway_network_id, there from routers cross join lateral (
      select count(*) as there from ip_assignments join subnets on subnets.id = subnet_id
      join networks on networks.id = network_id where router_id = routers.id and external) as outside
    where there <> case when gateway_network_id is null then 0 else 1 end`,
  'routers with ranges that overlap': `
    select one.router_id, one_range.cidr, other_range.cidr
    from router_interfaces one join subnets one_range on one_range.id = one.subnet_id
    join router_interfaces other on other.router_id = one.router_id and other.port_id < one.port_id
    join subnets other_range on other_range.id = other.subnet_id where one_range.cidr && other_range.cidr`,
  'interfaces of routers whose address is neither the gateway nor theirs': `
    select port_id, address from router_interfaces as interfaces join subnets on subnets.id = subnet_id
    where address is distinct from gateway_ip and not exists (
      select from ip_assignments as own where own.router_id = interfaces.router_id
        and own.subnet_id = interfaces.subnet_id and own.address = interfaces.address)`,
  'virtual addresses that are shared by their own port, or by no port of their network': `
    select vip.id, sharing.id from ports vip join ip_assignments own on own.port_id = vip.id
    join ports sharing on sharing.allowed_address_pairs @> jsonb_build_array(jsonb_build_object('ip_address', host(own.address)))
    where vip.is_vip and sharing.project_id = vip.project_id
      and (sharing.id = vip.id or (sharing.network_id <> vip.network_id and not exists (
        select from ports other join ip_assignments theirs on theirs.port_id = other.id
        where other.is_vip and other.network_id = sharing.network_id and theirs.address = own.address)))`,
  // In the test, only ports that share virtual addresses have pairs.
  'ports that share an address which is no virtual one': `
    select ports.id, pair ->> 'ip_address' from ports cross join jsonb_array_elements(allowed_address_pairs) as pair
    where not exists (
      select from ports vip join ip_assignments own on own.port_id = vip.id
      where vip.is_vip and vip.network_id = ports.network_id and vip.project_id = ports.project_id
        and host(own.address) = pair ->> 'ip_address')`,
  'ports with more address pairs than they can have, one twice, or none checked': `
    select id, allowed_address_pairs from ports
    cross join lateral (
      select count(*) as pairs, count(distinct pair ->> 'ip_address') as different
      from jsonb_array_elements(allowed_address_pairs) as pair) as counted
    where pairs > 10 or pairs <> different or (pairs > 0 and not port_security_enabled)`,
  'ports without an address': `
    select id from ports where not exists (select from ip_assignments where port_id = ports.id)`,
  'ports with an address of another network': `
    select ports.id from ports join ip_assignments on port_id = ports.id join subnets on subnets.id = subnet_id
    where subnets.network_id <> ports.network_id`,
  'ports without their instance': `
    select ports.id from ports left join instances on instances.id = instance_id
    where instances.id is null and ports.load_balancer_id is null and not reserved`,
  'load balancers without a port': `
    select id from load_balancers where not exists (select from ports where load_balancer_id = load_balancers.id)`,
  'parts of load balancers that refer to those of others': `
    select listeners.id from lb_listeners as listeners join lb_pools as pools on pools.id = default_pool_id
    where pools.load_balancer_id <> listeners.load_balancer_id
    union all
    select policies.id from lb_l7_policies as policies join lb_pools as pools on pools.id = redirect_pool_id
    where pools.load_balancer_id <> policies.load_balancer_id`,
  'positions that two L7 policies of a listener have': `
    select listener_id, position from lb_l7_policies group by listener_id, position having count(*) > 1`,
  'nodes that are not as many as their pool says': `
    select pool.name, node_count, nodes from kubernetes_pools as pool
    cross join lateral (select count(*) as nodes from instances where pool_id = pool.id) as counted
    where nodes <> node_count`,
  'groups of the nodes of a cluster that is gone': `
    select name from security_groups
    where cluster_id is not null and not exists (select from kubernetes_clusters where id = cluster_id)`,
  'clusters whose nodes have no group': `
    select name from kubernetes_clusters
    where not exists (select from security_groups where cluster_id = kubernetes_clusters.id)`,
  'links of groups to ports of another project': `
    select port_id, security_group_id from port_security_groups
    join ports on ports.id = port_id join security_groups on security_groups.id = security_group_id
    where (ports.project_id, ports.region_id) <> (security_groups.project_id, security_groups.region_id)`,
  'volumes whose state differs from their attachment': `
    select volumes.id, status, attached_at from volumes
    left join volume_attachments on volume_id = volumes.id
    where status <> case when volume_id is null then 'available' else 'in-use' end
      or (volume_id is not null and attached_at is null)`,
  'attachments to instances of another project': `
    select volume_id from volume_attachments join volumes on volumes.id = volume_id
    join instances on instances.id = instance_id
    where (volumes.project_id, volumes.region_id) <> (instances.project_id, instances.region_id)`,
  'snapshots that are not done': `select id, status from snapshots where status <> 'available'`,
  'instances in the middle of something': `
    select id, status, vm_state from instances
    where task_state is not null or (status, vm_state) not in
      (('ACTIVE', 'active'), ('SHUTOFF', 'stopped'), ('SUSPENDED', 'suspended'))`,
  'clusters in the middle of something': `
    select name, status from kubernetes_clusters
    where status <> 'Provisioned' or next_configuration is not null`,
  'pools in the middle of something': `select name, pending from kubernetes_pools where pending is not null`,
  'clusters without a pool': `
    select name from kubernetes_clusters
    where not exists (select from kubernetes_pools where cluster_id = kubernetes_clusters.id)`,
  'clusters in a network or subnet that is gone': `
    select name, fixed_network, fixed_subnet from kubernetes_clusters
    where (fixed_network <> '' and not exists (select from networks where id::text = fixed_network))
      or (fixed_subnet <> '' and not exists (select from subnets where id::text = fixed_subnet))`,
  'clusters whose SSH key is gone': `
    select name, keypair from kubernetes_clusters
    where not exists (
      select from ssh_keys where project_id = kubernetes_clusters.project_id and ssh_keys.name = keypair)`,
  'instances in placement groups of pools, or of other projects': `
    select instance_id from server_group_members join instances on instances.id = instance_id
    join server_groups on server_groups.id = server_group_id
    where server_groups.pool_id is not null
      or (server_groups.project_id, server_groups.region_id) <> (instances.project_id, instances.region_id)`,
  'pools whose placement group is not as their policy says': `
    select pools.name, servergroup_policy, policy from kubernetes_pools as pools
    left join server_groups on pool_id = pools.id where servergroup_policy is distinct from policy`,
  'file shares in the middle of something': `select id, status from file_shares where status <> 'available'`,
  'file shares in a network or subnet that is gone': `
    select name, network_id, subnet_id from file_shares
    where network_id is not null and not exists (
      select from subnets where subnets.id = subnet_id and subnets.network_id = file_shares.network_id)`,
  'rules that stand twice in a group': `
    select security_group_id, duplicate_key from security_group_rules group by 1, 2 having count(*) > 1`,
  'names that stand twice': `
    select 'security group' as kind, name from security_groups group by project_id, region_id, name having count(*) > 1
    union all select 'SSH key', name from ssh_keys group by project_id, name having count(*) > 1
    union all select 'project', name from projects group by client_id, name having count(*) > 1
    union all select 'cluster', name from kubernetes_clusters group by project_id, region_id, name having count(*) > 1`,
  'projects without exactly one default network and group in a region': `
    select projects.id, region_id, networks, groups from projects cross join (select distinct region_id from networks) as region
    cross join lateral (select count(*) as networks from networks
      where project_id = projects.id and networks.region_id = region.region_id and is_default) as of_networks
    cross join lateral (select count(*) as groups from security_groups
      where project_id = projects.id and security_groups.region_id = region.region_id and is_default) as of_groups
    where networks <> 1 or groups <> 1`,
  'tasks that have not ended, or not with a reason': `
    select id, task_type, state, error from tasks
    where state not in ('FINISHED', 'ERROR') or (state = 'ERROR' and coalesce(error, '') = '')`,
  'infrastructure that belongs to nothing': `
    select id, kind from simulated_objects
    where not exists (select from wants where (wants.kind, wants.id) = (simulated_objects.kind, simulated_objects.id))`,
  'clusters that are not as wanted, or wanted otherwise than they are': `
    select kubernetes_clusters.name, wants.spec, object.spec as there
    from kubernetes_clusters
    full join (select * from wants where kind = 'cluster') as wants using (id)
    full join (select * from simulated_objects where kind = 'cluster') as object using (id)
    cross join lateral (select array_agg(instances.id::text order by instances.id::text) as nodes
      from instances join kubernetes_pools as pool on pool.id = pool_id where cluster_id = kubernetes_clusters.id) as rows
    cross join lateral (select array_agg(node order by node) as nodes
      from jsonb_each(wants.spec -> 'pools') as pool (name, value), jsonb_object_keys(pool.value -> 'nodes') as node) as wanted
    where wants.spec is distinct from object.spec or wants.spec ->> 'version' is distinct from kubernetes_clusters.version
      or rows.nodes is distinct from wanted.nodes`,
  'quotas that differ from what there is': `
    with counted as (
      select client_id, region_id, attribute, count(*) as there from (
        select project_id, region_id, 'cluster_count' as attribute from kubernetes_clusters
        union all select project_id, region_id, 'firewall_count' from security_groups where not is_default
        union all select project_id, region_id, 'vm_count' from instances
        union all select project_id, region_id, 'volume_count' from volumes
        union all select project_id, region_id, 'snapshot_count' from snapshots
        union all select project_id, region_id, 'sfs_count' from file_shares
        union all select project_id, region_id, 'image_count' from images
        union all select project_id, region_id, 'secret_count' from secrets
        union all select project_id, region_id, 'servergroup_count' from server_groups
        union all select project_id, region_id, 'floating_count' from floating_ips
        union all select project_id, region_id, 'reserved_fixed_ip_count' from ports where reserved
        union all select project_id, region_id, 'router_count' from routers
        union all select project_id, region_id, 'loadbalancer_count' from load_balancers
        union all select project_id, region_id, 'network_count' from networks where creator_task_id is not null
        union all select project_id, networks.region_id, 'subnet_count' from subnets
          join networks on networks.id = network_id where subnets.creator_task_id is not null
      ) as kept join projects on projects.id = project_id
      group by client_id, region_id, attribute
    )
    select client_id, region_id, attribute, coalesce(used, 0) as used, coalesce(there, 0) as there
    from quota_usage full join counted using (client_id, region_id, attribute)
    where coalesce(used, 0) <> coalesce(there, 0)`,
};

/** Returns every violation, one per line. */
export async function brokenInvariants(pool: pg.Pool): Promise<string[]> {
  const broken: string[] = [];
  const never = { ...NEVER, ...WANTS_NEVER, ...(await heldByTasks(pool)), ...(await meteringNever(pool)) };
  for (const [what, query] of Object.entries(never)) {
    const { rows } = await pool.query<object>(query);
    if (rows.length > 0) broken.push(`${rows.length} ${what}: ${JSON.stringify(rows.slice(0, 5))}`);
  }
  return broken;
}

/** Queries every table, including future ones, whose rows a task can hold; the others only note a task. */
async function heldByTasks(pool: pg.Pool): Promise<Record<string, string>> {
  const { rows } = await pool.query<{ name: string }>(`
    select table_name as name from information_schema.columns
    where table_schema = 'public' and column_name = 'task_id'
      and table_name not like 'ai\\_task%' and table_name not like 'user\\_actions%' and table_name not in ('idempotency_keys', 'deletions')`);
  if (rows.length < 8) throw new Error('The tables with tasks were not found');
  return Object.fromEntries(
    rows.map(({ name }) => [`${name} held by a task`, `select * from ${name} where task_id is not null`]),
  );
}
