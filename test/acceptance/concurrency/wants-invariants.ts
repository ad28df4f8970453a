/** Other infrastructure keeps a handle of its own. */
const ofSimulation = `coalesce(wants.handle, 'null') = 'null'`;

/**
 * What must agree between rows, wants and infrastructure once no task is running. Each key describes the
 * rows.
 */
export const WANTS_NEVER: Record<string, string> = {
  'wants that the infrastructure is not as': `
    select wants.kind, wants.id, wants.spec, objects.spec as there, objects.doing
    from wants left join simulated_objects as objects using (kind, id)
    where (wants.spec is distinct from objects.spec or objects.doing = 'removing') and ${ofSimulation}`,
  'wants that are on their way, or in the hands of a worker': `
    select kind, id, generation, settled_generation, doing, failures, worker_id from wants
    where settled_generation is distinct from generation or due_at is not null or worker_id is not null`,
  'infrastructure that nobody wants': `
    select kind, id, doing from simulated_objects
    where not exists (select from wants where wants.kind = simulated_objects.kind and wants.id = simulated_objects.id)`,
  'tasks that have ended and wait all the same': `
    select task_id, kind, want_id, state from task_wants join tasks on tasks.id = task_id
    where state in ('FINISHED', 'ERROR')`,
  'wants of what another one needs that is not wanted': `
    select wants.kind, wants.id, need from wants cross join unnest(uses) as need
    where need like any (array['volume:%', 'port:%']) and not exists (
      select from wants as needed where needed.kind || ':' || needed.id = need)`,
  // Nodes, with their disks and ports, are parts of their clusters.
  'volumes that are not wanted as their rows say': likeRows(
    'volume',
    `(select * from volumes where not exists (
      select from volume_attachments join instances on instances.id = instance_id
      where volume_id = volumes.id and pool_id is not null))`,
    `name is distinct from spec ->> 'name' or size_gib is distinct from (spec ->> 'sizeGib')::bigint
      or volume_type is distinct from spec ->> 'volumeType' or tags is distinct from spec -> 'metadata'`,
  ),
  'snapshots that are not wanted as their rows say': likeRows(
    'snapshot',
    'snapshots',
    `name is distinct from spec ->> 'name' or volume_id::text is distinct from spec ->> 'volumeId'
      or tags is distinct from spec -> 'metadata'`,
  ),
  'images that are not wanted as their rows say': likeRows(
    'image',
    'images',
    `name is distinct from spec ->> 'name' or os_type is distinct from spec ->> 'osType'
      or tags is distinct from spec -> 'metadata'`,
  ),
  'machines that are not wanted as their rows say': likeRows(
    'machine',
    '(select * from instances where pool_id is null)',
    `name is distinct from spec ->> 'name' or flavor_id is distinct from spec ->> 'flavorId'
      or tags is distinct from spec -> 'metadata'
      or (select server_group_id::text from server_group_members where instance_id = rows.id) is distinct from spec ->> 'serverGroupId'
      or vm_state is distinct from case spec ->> 'power' when 'on' then 'active' when 'off' then 'stopped' else 'suspended' end
      or array(select volume_id::text from volume_attachments where instance_id = rows.id order by 1)
        <> array(select jsonb_object_keys(spec -> 'disks') order by 1)
      or array(select ports.id::text from ports where instance_id = rows.id order by 1)
        <> array(select jsonb_object_keys(spec -> 'ports') order by 1)`,
  ),
  // The platform's own networks exist without wants.
  'networks that are not wanted as their rows say': likeRows(
    'network',
    '(select * from networks where project_id is not null)',
    `name is distinct from spec ->> 'name' or tags is distinct from spec -> 'metadata'`,
  ),
  'subnets that are not wanted as their rows say': likeRows(
    'subnet',
    `(select subnets.* from subnets join networks on networks.id = network_id where project_id is not null)`,
    `name is distinct from spec ->> 'name' or network_id::text is distinct from spec ->> 'networkId'
      or host(gateway_ip) is distinct from spec ->> 'gatewayIp' or tags is distinct from spec -> 'metadata'`,
  ),
  'routers that are not wanted as their rows say': likeRows(
    'router',
    'routers',
    `name is distinct from spec ->> 'name' or routes is distinct from spec -> 'routes'
      or gateway_network_id::text is distinct from spec -> 'gateway' ->> 'networkId'
      or array(select port_id::text from router_interfaces where router_id = rows.id order by 1)
        <> array(select jsonb_object_keys(spec -> 'interfaces') order by 1)`,
  ),
  'ports that are not wanted as their rows say': likeRows(
    'port',
    `(select ports.* from ports left join instances on instances.id = instance_id where pool_id is null)`,
    `network_id::text is distinct from spec ->> 'networkId' or rows.tags is distinct from spec -> 'metadata'
      or array(select host(address) from ip_assignments where port_id = rows.id order by 1)
        <> array(select jsonb_object_keys(spec -> 'addresses') order by 1)
      or array(select security_group_id::text from port_security_groups where port_id = rows.id order by 1)
        <> array(select jsonb_object_keys(spec -> 'groups') order by 1)`,
  ),
  'floating IPs that are not wanted as their rows say': likeRows(
    'floating_ip',
    'floating_ips',
    `host(address) is distinct from spec ->> 'address' or port_id::text is distinct from spec -> 'target' ->> 'portId'
      or tags is distinct from spec -> 'metadata'`,
  ),
  'load balancers that are not wanted as their rows say': likeRows(
    'load_balancer',
    'load_balancers',
    `name is distinct from spec ->> 'name' or flavor ->> 'flavor_id' is distinct from spec ->> 'flavorId'
      or tags is distinct from spec -> 'metadata' or failovers is distinct from (spec ->> 'failovers')::int
      or (select ports.id::text from ports where load_balancer_id = rows.id) is distinct from spec ->> 'portId'
      or array(select id::text from lb_listeners where load_balancer_id = rows.id order by 1)
        <> array(select jsonb_object_keys(spec -> 'listeners') order by 1)
      or array(select id::text from lb_pools where load_balancer_id = rows.id order by 1)
        <> array(select jsonb_object_keys(spec -> 'pools') order by 1)
      or array(select id::text from lb_members where load_balancer_id = rows.id order by 1)
        <> array(select jsonb_object_keys(pool -> 'members') from jsonb_each(spec -> 'pools') as each (id, pool) order by 1)
      or array(select id::text from lb_l7_policies where load_balancer_id = rows.id order by 1)
        <> array(select jsonb_object_keys(listener -> 'policies') from jsonb_each(spec -> 'listeners') as each (id, listener) order by 1)`,
  ),
  'security groups that are not wanted as their rows say': likeRows(
    'security_group',
    'security_groups',
    `name is distinct from spec ->> 'name'
      or array(select security_group_rules.id::text from security_group_rules where security_group_id = rows.id order by 1)
        <> array(select jsonb_object_keys(spec -> 'rules') order by 1)`,
  ),
  'DDoS profiles that are not wanted as their rows say': likeRows(
    'ddos_profile',
    '(select want_id as id, host(address) as address, template_id, active, bgp from ddos_profiles)',
    `address is distinct from spec ->> 'address' or template_id is distinct from (spec ->> 'templateId')::bigint
      or active is distinct from (spec ->> 'active')::boolean or bgp is distinct from (spec ->> 'bgp')::boolean`,
  ),
  'secrets that are not wanted as their rows say': likeRows(
    'secret',
    'secrets',
    `name is distinct from spec ->> 'name' or secret_type is distinct from spec ->> 'type'
      or array(select name from want_secrets where kind = 'secret' and want_id = rows.id order by 1)
        <> array(select jsonb_object_keys(spec -> 'secrets') order by 1)`,
  ),
  'placement groups that are not wanted as their rows say': likeRows(
    'server_group',
    '(select * from server_groups where pool_id is null)',
    `name is distinct from spec ->> 'name' or policy is distinct from spec ->> 'policy'`,
  ),
  'file shares that are not wanted as their rows say': likeRows(
    'file_share',
    'file_shares',
    `name is distinct from spec ->> 'name' or size_gib is distinct from (spec ->> 'sizeGib')::bigint
      or tags is distinct from spec -> 'metadata'
      or array(select access.id::text from file_share_access_rules as access where file_share_id = rows.id order by 1)
        <> array(select jsonb_object_keys(spec -> 'access') order by 1)`,
  ),
};

/** Returns a query for rows without a want, wants without a row, and those that differ. */
function likeRows(kind: string, rows: string, differ: string): string {
  return `
    select coalesce(rows.id, wants.id) as id, rows.id is null as "no row", wants.id is null as "no want", wants.spec
    from ${rows} as rows full join (select * from wants where kind = '${kind}') as wants on wants.id = rows.id
    where rows.id is null or wants.id is null or ${differ}`;
}
