import { type Kysely, type RawBuilder, sql } from 'kysely';
import { needsOf } from './needs.ts';

/** Specs contain no null: absent fields are left out. */
const spec = (parts: RawBuilder<unknown>) => sql`jsonb_strip_nulls(jsonb_build_object(${parts}))`;

const select = (kind: string, shape: RawBuilder<unknown>, from: RawBuilder<unknown>, observed = sql`'{}'::jsonb`) =>
  sql`select ${sql.lit(kind)} as kind, thing.id, projects.client_id, projects.id as project_id, thing.region_id,
    ${shape} as spec, ${observed} as observed, null::jsonb as made
    from ${from} join projects on projects.id = thing.project_id`;

/** Only things of machines and projects; the disks and ports of a node belong to its cluster. */
const notOfNode = (instanceId: RawBuilder<unknown>) =>
  sql`not exists (select from instances where instances.id = ${instanceId} and pool_id is not null)`;

const network = select(
  'network',
  spec(sql`'name', thing.name, 'type', type, 'mtu', mtu, 'metadata', tags`),
  sql`networks as thing`,
);

const subnet = sql`select 'subnet' as kind, subnets.id, client_id, project_id, region_id, ${spec(sql`
    'name', subnets.name, 'networkId', network_id, 'cidr', cidr::text, 'dhcp', enable_dhcp, 'gatewayIp', host(gateway_ip),
    'dnsNameservers', dns_nameservers, 'hostRoutes', host_routes, 'metadata', subnets.tags`)} as spec,
    '{}'::jsonb as observed, null::jsonb as made
  from subnets join networks on networks.id = network_id join projects on projects.id = project_id`;

/** For a row that the query calls `port`. */
const portSpec = spec(sql`
  'networkId', port.network_id, 'macAddress', port.mac_address::text, 'portSecurity', port.port_security_enabled,
  'addresses', (select coalesce(jsonb_object_agg(host(address), jsonb_build_object('subnetId', subnet_id)), '{}')
    from ip_assignments where port_id = port.id),
  'groups', (select coalesce(jsonb_object_agg(security_group_id, true), '{}')
    from port_security_groups where port_id = port.id),
  'addressPairs', (select coalesce(jsonb_agg(jsonb_build_object('ipAddress', pair ->> 'ip_address', 'macAddress',
      pair ->> 'mac_address') order by place), '[]')
    from jsonb_array_elements(port.allowed_address_pairs) with ordinality as pairs (pair, place)),
  'reserved', nullif(port.reserved, false), 'metadata', port.tags`);

const port = sql`
  ${select('port', portSpec, sql`(select ports.* from ports) as thing cross join lateral (select thing.*) as port`)}
  where thing.instance_id is null or ${notOfNode(sql`thing.instance_id`)}`;

const group = select(
  'security_group',
  spec(sql`'name', thing.name, 'description', thing.description, 'rules', (
    select coalesce(jsonb_object_agg(rule.id, jsonb_build_object('direction', direction, 'ethertype', ethertype,
      'protocol', protocol, 'portRangeMin', port_range_min, 'portRangeMax', port_range_max,
      'remoteIpPrefix', remote_ip_prefix, 'remoteGroupId', remote_group_id)), '{}')
    from security_group_rules as rule where security_group_id = thing.id)`),
  sql`security_groups as thing`,
);

const floatingIp = select(
  'floating_ip',
  spec(sql`'address', host(address), 'target', case when port_id is not null then
    jsonb_build_object('portId', port_id, 'fixedAddress', host(fixed_address)) end, 'metadata', tags`),
  sql`floating_ips as thing`,
);

/** Whether a volume requested for an instance would be bootable. */
const bootable = sql`case wish ->> 'source'
  when 'image' then true
  when 'snapshot' then exists (select from snapshots join volumes as origin on origin.id = snapshots.volume_id
    where snapshots.id = (wish ->> 'snapshot_id')::uuid and origin.bootable)
  when 'existing-volume' then exists (select from volumes as existing
    where existing.id = (wish ->> 'volume_id')::uuid and existing.bootable)
  else false end`;

/** The volumes requested for an instance in the order of their devices: the boot volume comes first. */
const wishAt = (position: RawBuilder<unknown>) => sql`(
  select wish from (
    select wish, place, first_value(place) over (order by coalesce(wish ->> 'boot_index', '') = '0' desc,
      wish ->> 'boot_index' is null and ${bootable} desc, place) as boots
    from jsonb_array_elements(data -> 'volumes') with ordinality as wishes (wish, place)) as ordered
  order by place = boots desc, place offset ${position} limit 1)`;

/**
 * A volume's row doesn't say what it was filled with; the request that made it does, which its task shows.
 */
const volume = sql`
  ${select(
    'volume',
    spec(sql`'name', thing.name, 'sizeGib', size_gib, 'volumeType', volume_type, 'metadata', tags, 'source',
      case when wish ->> 'source' = 'snapshot' then jsonb_build_object('snapshotId', lower(wish ->> 'snapshot_id'))
        when image_metadata ? 'image_id' then jsonb_build_object('imageId', image_metadata ->> 'image_id') end`),
    sql`volumes as thing
      left join volume_attachments as attachment on volume_id = thing.id
      left join lateral (
        select case when task_type = 'create_volume' then data
          when task_type = 'create_vm' and exists (select from instances
            where instances.id = instance_id and instances.creator_task_id = thing.creator_task_id)
            then ${wishAt(sql`ascii(right(device, 1)) - ascii('a')`)}
          when task_type = 'create_vm'
            then data -> 'volumes' -> substring(thing.name from '_volume_(\\d{1,4})$')::int - 1 end as wish
        from tasks where tasks.id = thing.creator_task_id
      ) as creation on true`,
  )}
  where instance_id is null or ${notOfNode(sql`instance_id`)}`;

const snapshot = select(
  'snapshot',
  spec(sql`'name', thing.name, 'volumeId', volume_id, 'metadata', tags`),
  sql`snapshots as thing`,
);

/** The image's volume is only named in the request. */
const image = select(
  'image',
  spec(sql`'name', thing.name, 'volumeId',
    coalesce(lower(tasks.data ->> 'volume_id'), '00000000-0000-0000-0000-000000000000'), 'osType', os_type,
    'architecture', architecture, 'properties', jsonb_build_object('ssh_key', ssh_key, 'is_baremetal', is_baremetal::text,
      'hw_firmware_type', hw_firmware_type, 'hw_machine_type', hw_machine_type), 'metadata', tags`),
  sql`images as thing left join tasks on tasks.id = thing.creator_task_id`,
);

const fileShare = select(
  'file_share',
  spec(sql`'name', thing.name, 'type', type_name, 'sizeGib', size_gib, 'metadata', tags,
    'subnet', case when network_id is not null and subnet_id is not null then
      jsonb_build_object('networkId', network_id, 'subnetId', subnet_id) end,
    'access', (select coalesce(jsonb_object_agg(rule.id, jsonb_build_object('to', access_to, 'level', access_level)), '{}')
      from file_share_access_rules as rule where file_share_id = thing.id),
    'settings', case when root_squash is not null then jsonb_build_object('rootSquash', root_squash,
      'pathLength', path_length, 'allowedCharacters', allowed_characters) end`),
  sql`file_shares as thing`,
  sql`jsonb_build_object('connectionPoint', connection_point)`,
);

const machine = sql`
  ${select(
    'machine',
    spec(sql`'name', thing.name, 'flavorId', flavor_id, 'metadata', tags, 'secrets', '{}'::jsonb,
      'disks', (select coalesce(jsonb_object_agg(volume_id, jsonb_build_object('device', device, 'bootIndex', boot_index,
          'tag', attachment_tag, 'deleteOnTermination', delete_on_termination)), '{}')
        from volume_attachments where instance_id = thing.id),
      'ports', (select coalesce(jsonb_object_agg(ports.id, jsonb_build_object('position', position)), '{}')
        from ports where instance_id = thing.id),
      'publicKey', (select public_key from ssh_keys
        where ssh_keys.project_id = thing.project_id and ssh_keys.name = ssh_key_name),
      'username', (select nullif(data ->> 'username', '') from tasks where tasks.id = thing.creator_task_id),
      'power', case vm_state when 'stopped' then 'off' when 'suspended' then 'suspended' else 'on' end,
      'reboots', '{"soft": 0, "hard": 0}'::jsonb`),
    sql`instances as thing`,
  )}
  where pool_id is null`;

const nodePorts = sql`(
  select coalesce(jsonb_object_agg(port.id, ${portSpec} || jsonb_build_object('position', place)), '{}')
  from (select ports.*, row_number() over (order by position) - 1 as place
    from ports where instance_id = node.id) as port)`;

/** Includes all nodes, even those that a task makes or removes. */
const pools = sql`(
  select coalesce(jsonb_object_agg(pool.name, jsonb_build_object('id', pool.id, 'flavorId', flavor_id,
    'bootVolume', case when boot_volume_type in ('cold', 'ssd_hiiops', 'ssd_local', 'ssd_lowlatency', 'standard', 'ultra')
      and boot_volume_size is not null then jsonb_build_object('sizeGib', boot_volume_size, 'type', boot_volume_type) end,
    'serverGroupPolicy', servergroup_policy, 'publicAddresses', is_public_ipv4, 'minNodes', min_node_count,
    'maxNodes', max_node_count, 'autoHealing', auto_healing_enabled, 'labels', labels, 'taints', taints,
    'crioConfig', crio_config, 'kubeletConfig', kubelet_config,
    'securityGroups', (select coalesce(jsonb_object_agg(id, true), '{}') from (
      select id from security_groups where security_groups.cluster_id = thing.id
      union select security_group_id from kubernetes_pool_security_groups where pool_id = pool.id) as groups),
    'nodes', (select coalesce(jsonb_object_agg(node.id, jsonb_build_object('name', node.name, 'bootVolumeId', (
        select volume_id from volume_attachments where instance_id = node.id and boot_index = 0),
        'ports', ${nodePorts})), '{}')
      from instances as node where pool_id = pool.id))), '{}')
  from kubernetes_pools as pool where pool.cluster_id = thing.id)`;

const cluster = sql`
  select 'cluster' as kind, thing.id, client_id, project_id, region_id, ${spec(sql`
      'name', thing.name, 'version', version, 'publicKey', (select public_key from ssh_keys
        where ssh_keys.project_id = thing.project_id and ssh_keys.name = keypair),
      'network', jsonb_build_object('networkId', nullif(fixed_network, ''), 'subnetId', nullif(fixed_subnet, ''),
        'ipv6', is_ipv6),
      'pods', jsonb_build_object('ipv4', pods_ip_pool, 'ipv6', pods_ipv6_pool),
      'services', jsonb_build_object('ipv4', services_ip_pool, 'ipv6', services_ipv6_pool),
      'vastShares', vast_nfs_enabled, 'configuration', configuration,
      'slurmPublicKeys', (select coalesce(jsonb_object_agg(ssh_keys.id, public_key), '{}') from ssh_keys
        where ssh_keys.project_id = thing.project_id and configuration #> '{add_ons,slurm,ssh_key_ids}' <> 'null'
          and ssh_keys.id::text in (
            select lower(id) from jsonb_array_elements_text(nullif(configuration #> '{add_ons,slurm,ssh_key_ids}', 'null')) as keys (id))),
      'pools', ${pools}`)} as spec,
    coalesce(jsonb_build_object('endpoint', endpoint, 'caCertificate', ca_certificate,
      'clientCertificate', client_certificate), '{}') as observed,
    case when ca_key is not null then jsonb_build_object('caCertificate', ca_certificate,
      'clientCertificate', client_certificate, 'secret', jsonb_build_object('caKey', ca_key, 'clientKey', client_key)) end
      as made
  from kubernetes_clusters as thing join projects on projects.id = project_id
  left join kubernetes_credentials on kubernetes_credentials.cluster_id = thing.id`;

/** Wants everything that has a row, as the row says. */
export async function adoptThings(db: Kysely<unknown>): Promise<void> {
  const kinds = [network, subnet, group, port, floatingIp, volume, snapshot, image, fileShare, machine, cluster];
  for (const things of kinds) {
    await sql`
      with thing as (${things}), wanted as (
        insert into wants (kind, id, client_id, project_id, region_id, spec, after, uses, settled_generation, observed)
        select kind, id, client_id, project_id, region_id, spec, after, uses, 1, observed
        from thing cross join lateral ${needsOf(sql`kind`, sql`spec`)} as needs
      )
      insert into simulated_objects (kind, id, spec, doing, began_at, takes_ms, made)
      select kind, id, spec, 'making', clock_timestamp(), 0, made from thing`.execute(db);
  }
}
