/** The old engine's data of a task; its shape depends on the type. */
// biome-ignore lint/suspicious/noExplicitAny: it was written by another program.
export type Old = any;
export type Spec = Record<string, Old>;

/** What a task does to a want. What is omitted stays as it is. */
export interface Change {
  kind: string;
  id: string;
  /**
   * Returns the spec before the task began, from that of the current row; null if the task makes the thing.
   */
  before?: (row: Spec) => Spec | null;
  /** Returns the spec that the task is to reach; null if it removes the thing. */
  after?: (spec: Spec | null, row: Spec | undefined) => Spec | null;
}

export interface Adopted {
  /** In the form that the end of the task requires from now on. */
  input: object;
  changes: Change[];
}

/** Facts to look up in order to know what a task was about. */
export interface Facts {
  /** The specs of the rows: `kind:id`. */
  rows: ReadonlyMap<string, Spec>;
  /** Floating IPs that the task holds. */
  floatingIps: readonly string[];
  /** Nodes that the task makes, and nodes that it removes. */
  newNodes: readonly string[];
  oldNodes: readonly string[];
  /** The cluster's configuration after an update. */
  configuration: Spec | null;
  sshKeys: ReadonlyMap<string, string>;
}

const made = (kind: string, id: string, more: Spec = {}): Change => ({
  kind,
  id,
  before: () => null,
  after: (_spec, row) => ({ ...row, ...more }),
});
const gone = (kind: string, id: string): Change => ({ kind, id, after: () => null });
const becomes = (kind: string, id: string, to: (spec: Spec) => Spec): Change => ({
  kind,
  id,
  after: (spec) => spec && { ...spec, ...to(spec) },
});
/** A thing whose row already has the task's result. */
const is = (kind: string, id: string, was: (row: Spec) => Spec = (row) => row): Change => ({
  kind,
  id,
  before: was,
  after: (spec, row) => spec && (row ?? spec),
});

const without = (object: Spec = {}, ...names: string[]): Spec =>
  Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
const namedOf = (object: Spec, ...names: string[]): Spec =>
  Object.fromEntries(Object.entries(object).filter(([name]) => names.includes(name)));

/** A part of a machine that is added with the task. */
const comes = (machineId: string, list: 'disks' | 'ports', id: string): Change => ({
  kind: 'machine',
  id: machineId,
  before: (row) => ({ ...row, [list]: without(row[list], id) }),
  after: (spec, row) => spec && { ...spec, [list]: { ...spec[list], ...namedOf(row?.[list] ?? {}, id) } },
});
const leaves = (machineId: string, list: 'disks' | 'ports', id: string): Change =>
  becomes('machine', machineId, (spec) => ({ [list]: without(spec[list], id) }));

const sourceOf = ({ imageId, snapshotId }: Old): Spec => ({
  ...(imageId && { source: { imageId } }),
  ...(snapshotId && { source: { snapshotId } }),
});

const ownedBy = ({ clientId, regionId }: Old) => ({ clientId, regionId });

/** Tasks that make or remove a single thing; `field` of their input contains its id. */
const creates =
  (kind: string, field: string) =>
  (old: Old): Adopted => ({ input: old, changes: [made(kind, old[field])] });
const deletes =
  (kind: string, field: string) =>
  (old: Old): Adopted => ({ input: old, changes: [gone(kind, old[field])] });

const volumeChange =
  (change: (old: Old) => { input?: object; changes: Change[] }) =>
  (old: Old): Adopted => {
    const { input, changes } = change(old);
    return { input: { volumeId: old.diskId, ...input }, changes };
  };

/** Addresses that belong to a machine or one of its interfaces: new, or there before. */
function addresses(old: Old, portIds: readonly string[], { floatingIps }: Facts): Change[] {
  return [
    ...portIds.map((id) => (old.made.portIds.includes(id) ? made('port', id) : is('port', id))),
    ...floatingIps.map((id) =>
      old.made.floatingIpIds.includes(id)
        ? made('floating_ip', id)
        : is('floating_ip', id, (row) => without(row, 'target')),
    ),
  ];
}
const nowhere = (id: string): Change => ({
  kind: 'floating_ip',
  id,
  after: (spec) => spec && without(spec, 'target'),
});

const POWER: Record<string, string> = { stopped: 'off', suspended: 'suspended' };
const MACHINE_CHANGES: Record<string, (spec: Spec, change: Old) => Spec> = {
  start: () => ({ power: 'on' }),
  stop: () => ({ power: 'off' }),
  suspend: () => ({ power: 'suspended' }),
  resume: () => ({ power: 'on' }),
  reboot: ({ reboots }) => ({ reboots: { ...reboots, soft: reboots.soft + 1 } }),
  reboot_hard: ({ reboots }) => ({ power: 'on', reboots: { ...reboots, hard: reboots.hard + 1 } }),
  resize: (_spec, { flavorId }) => ({ flavorId }),
};

function machineChange({ change, ...input }: Old): Adopted {
  const to = MACHINE_CHANGES[change.kind];
  if (!to) throw new Error(`Nobody knows the change ${change.kind}`);
  const { instanceId: id } = change;
  return {
    input: { instanceId: id, ...input },
    changes: [
      {
        kind: 'machine',
        id,
        before: (row) => ({ ...row, power: POWER[input.before.vm_state] ?? 'on' }),
        after: (spec) => spec && { ...spec, ...to(spec, change) },
      },
    ],
  };
}

function portChange({ groupIds, pairs, ...rest }: Old): Adopted {
  // Undefined was stored as null.
  const input = { ...rest, ...(groupIds && { groupIds }), ...(pairs && { pairs }) };
  const [added, dropped] = [rest.added, rest.dropped].map((list: Old[]) => list.map(({ address }) => address));
  const pairSpec = ({ ip_address: ipAddress, mac_address: macAddress }: Old) => ({
    ipAddress,
    ...(macAddress && { macAddress }),
  });
  const change: Change = {
    kind: 'port',
    id: rest.portId,
    before: (row) => ({ ...row, addresses: without(row.addresses, ...(added ?? [])) }),
    after: (spec, row) =>
      spec && {
        ...spec,
        addresses: without(row?.addresses, ...(dropped ?? [])),
        portSecurity: rest.portSecurityEnabled,
        ...(groupIds && { groups: Object.fromEntries(groupIds.map((id: string) => [id, true])) }),
        ...(pairs && { addressPairs: pairs.map(pairSpec) }),
        metadata: rest.tags,
      },
  };
  return { input, changes: [change] };
}

const mapPools = (spec: Spec, change: (pool: Spec) => Spec | undefined): Spec => ({
  ...spec,
  pools: Object.fromEntries(
    Object.entries<Spec>(spec.pools).flatMap(([name, pool]) => {
      const changed = change(pool);
      return changed ? [[name, changed]] : [];
    }),
  ),
});
const withoutNodes = (spec: Spec, ids: readonly string[]): Spec =>
  mapPools(spec, (pool) => ({ ...pool, nodes: without(pool.nodes, ...ids) }));
const withoutPool = (spec: Spec, poolId: string): Spec =>
  mapPools(spec, (pool) => (pool.id === poolId ? undefined : pool));

function clusterConfiguration({ configuration, sshKeys }: Facts): (spec: Spec) => Spec {
  const ids: string[] = (configuration?.add_ons?.slurm?.ssh_key_ids ?? []).map((id: string) => id.toLowerCase());
  const keys = ids.flatMap((id) => (sshKeys.has(id) ? [[id, sshKeys.get(id)]] : []));
  return () => (configuration ? { configuration, slurmPublicKeys: Object.fromEntries(keys) } : {});
}

/** By type: converts the old engine's data of a task to the new one's. */
export const TASK_KINDS: Record<string, (old: Old, facts: Facts) => Adopted> = {
  create_volume: (old) => ({
    input: { volumeId: old.order.id, ...ownedBy(old) },
    changes: [
      made('volume', old.order.id, sourceOf(old.order)),
      ...(old.attach ? [comes(old.attach.instanceId, 'disks', old.order.id)] : []),
    ],
  }),
  delete_volume: (old) => ({
    input: old,
    changes: [gone('volume', old.volumeId), ...old.snapshotIds.map((id: string) => gone('snapshot', id))],
  }),
  attach_volume: volumeChange(({ diskId, instanceId }) => ({
    changes: [comes(instanceId, 'disks', diskId)],
  })),
  detach_volume: volumeChange(({ diskId, instanceId }) => ({
    changes: [leaves(instanceId, 'disks', diskId)],
  })),
  extend_volume: volumeChange(({ diskId, sizeGib }) => ({
    input: { sizeGib },
    changes: [becomes('volume', diskId, () => ({ sizeGib }))],
  })),
  retype_volume: volumeChange(({ diskId, volumeType }) => ({
    input: { volumeType },
    changes: [becomes('volume', diskId, () => ({ volumeType }))],
  })),
  revert_volume: volumeChange(({ diskId, snapshotId }) => ({
    input: { snapshotId },
    changes: [becomes('volume', diskId, () => ({ reverts: { times: 1, snapshotId } }))],
  })),

  create_snapshot: creates('snapshot', 'snapshotId'),
  delete_snapshot: deletes('snapshot', 'snapshotId'),
  create_image: (old) => ({ input: old, changes: [made('image', old.imageId, { volumeId: old.volumeId })] }),
  delete_image: deletes('image', 'imageId'),

  create_vm: (old, facts) => {
    const { id, disks } = old.order;
    const ports = Object.keys(facts.rows.get(`machine:${id}`)?.ports ?? {});
    return {
      input: { instanceId: id, madeVolumeIds: old.madeVolumeIds, made: old.made, ...ownedBy(old) },
      changes: [
        ...disks
          .filter((disk: Old) => old.madeVolumeIds.includes(disk.id))
          .map((disk: Old) => made('volume', disk.id, sourceOf(disk))),
        ...addresses(old, ports, facts),
        made('machine', id),
      ],
    };
  },
  delete_vm: (old, { rows, floatingIps }) => {
    const ports = Object.keys(rows.get(`machine:${old.instanceId}`)?.ports ?? {});
    const kept = (id: string) => rows.get(`port:${id}`)?.reserved && !old.reservedPortIds.includes(id);
    return {
      input: old,
      changes: [
        gone('machine', old.instanceId),
        ...old.volumeIds.map((id: string) => gone('volume', id)),
        ...floatingIps.map((id) => (old.floatingIpIds.includes(id) ? gone('floating_ip', id) : nowhere(id))),
        ...ports.filter((id) => !kept(id)).map((id) => gone('port', id)),
      ],
    };
  },
  start_vm: machineChange,
  stop_vm: machineChange,
  soft_reboot_vm: machineChange,
  hard_reboot_vm: machineChange,
  suspend_vm: machineChange,
  resume_vm: machineChange,
  resize_vm: machineChange,
  attach_vm_interface: (old, facts) => ({
    input: old,
    changes: [...addresses(old, [old.portId], facts), comes(old.instanceId, 'ports', old.portId)],
  }),
  detach_vm_interface: (old, { rows }) => ({
    input: old,
    changes: [
      leaves(old.instanceId, 'ports', old.portId),
      ...[...rows].flatMap(([key, { target }]) =>
        key.startsWith('floating_ip:') && target?.portId === old.portId ? [nowhere(idOf(key))] : [],
      ),
      ...(rows.get(`port:${old.portId}`)?.reserved ? [] : [gone('port', old.portId)]),
    ],
  }),

  create_network: creates('network', 'networkId'),
  update_network: (old) => ({
    input: old,
    changes: [becomes('network', old.networkId, () => ({ name: old.name, metadata: old.tags }))],
  }),
  delete_network: (old, { rows }) => ({
    input: old,
    changes: [
      gone('network', old.networkId),
      ...[...rows].flatMap(([key, { networkId }]) =>
        key.startsWith('subnet:') && networkId === old.networkId ? [gone('subnet', idOf(key))] : [],
      ),
    ],
  }),
  create_subnet: creates('subnet', 'subnetId'),
  delete_subnet: deletes('subnet', 'subnetId'),
  update_port: portChange,
  update_port_allowed_address_pairs: portChange,
  create_fip: creates('floating_ip', 'floatingIpId'),
  update_floating_ip: (old) => {
    const { port_id: portId, fixed_address: fixedAddress, tags: metadata } = old.former;
    const former = { ...(portId !== null && { target: { portId, fixedAddress } }), metadata };
    const was = (row: Spec) => ({ ...without(row, 'target'), ...former });
    return { input: old, changes: [is('floating_ip', old.floatingIpId, was)] };
  },
  delete_fip: deletes('floating_ip', 'floatingIpId'),
  create_reserved_fixed_ip: (old) => ({
    input: old,
    changes: [old.existed ? is('port', old.portId, (row) => without(row, 'reserved')) : made('port', old.portId)],
  }),
  delete_reserved_fixed_ip: deletes('port', 'portId'),
  convert_reserved_fixed_ip_to_fip: (old, { rows }) => {
    const [address] = Object.keys(rows.get(`port:${old.portId}`)?.addresses ?? {});
    const floatingIp = { address, formerPortId: old.portId, metadata: {} };
    return {
      input: old,
      changes: [gone('port', old.portId), made('floating_ip', old.floatingIpId, floatingIp)],
    };
  },

  create_sfs: creates('file_share', 'fileShareId'),
  delete_sfs: deletes('file_share', 'fileShareId'),
  extend_sfs: ({ fileShareId, patch }) => ({
    input: { fileShareId, patch },
    changes: [becomes('file_share', fileShareId, () => ({ sizeGib: patch.size_gib }))],
  }),
  update_sfs: ({ fileShareId, patch, change: { settings } }) => ({
    input: { fileShareId, patch },
    changes: [
      becomes('file_share', fileShareId, () => ({
        ...(patch.name !== undefined && { name: patch.name }),
        ...(patch.tags !== undefined && { metadata: JSON.parse(patch.tags) }),
        ...(settings && { settings: withoutNulls(settings) }),
      })),
    ],
  }),

  create_k8s_cluster_v2: ({ controlPlane: { clusterId }, owner }) => ({
    input: { clusterId, ...owner },
    changes: [made('cluster', clusterId)],
  }),
  update_k8s_cluster_v2: ({ clusterId }, facts) => ({
    input: { clusterId },
    changes: [becomes('cluster', clusterId, clusterConfiguration(facts))],
  }),
  upgrade_k8s_cluster_v2: ({ clusterId, version }) => ({
    input: { clusterId, version },
    changes: [becomes('cluster', clusterId, () => ({ version }))],
  }),
  delete_k8s_cluster_v2: ({ clusterId, owner }) => ({
    input: { clusterId, ...owner },
    changes: [gone('cluster', clusterId)],
  }),
  create_k8s_cluster_pool_v2: ({ clusterId, poolId }) => ({
    input: { clusterId, poolId },
    changes: [is('cluster', clusterId, (row) => withoutPool(row, poolId))],
  }),
  resize_k8s_cluster_v2: ({ clusterId, poolId, pool }, { newNodes, oldNodes }) => ({
    input: { clusterId, poolId, nodeCount: pool.nodeCount },
    changes: [
      {
        kind: 'cluster',
        id: clusterId,
        before: (row) => withoutNodes(row, newNodes),
        after: (spec, row) => spec && withoutNodes(row ?? spec, oldNodes),
      },
    ],
  }),
  delete_k8s_cluster_pool_v2: ({ clusterId, poolId, owner, last }) => ({
    input: { clusterId, poolId, last, ...owner },
    changes: [
      last
        ? gone('cluster', clusterId)
        : { kind: 'cluster', id: clusterId, after: (spec) => spec && withoutPool(spec, poolId) },
    ],
  }),
  // The row has the new settings already, and the former ones are unknown.
  update_k8s_cluster_pool_v2: ({ clusterId }) => ({
    input: {},
    changes: [{ kind: 'cluster', id: clusterId }],
  }),
};

const idOf = (key: string): string => key.slice(key.indexOf(':') + 1);

function withoutNulls(value: object): Spec {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null));
}
