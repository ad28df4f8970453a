import type { Kind } from './backend.ts';
import type { Specs } from './specs.ts';

/** Another thing that must be as wanted before this one can be made or changed. */
export interface Need {
  kind: Kind;
  id: string;
  /** True if the need ends once the thing exists, as with the snapshot that a volume was filled from. */
  onlyAtFirst?: boolean;
}

const all = (kind: Kind, byId: object): Need[] => Object.keys(byId).map((id) => ({ kind, id }));

const one = (kind: Kind, id: string | undefined): Need[] => (id === undefined ? [] : [{ kind, id }]);
const atFirst = (kind: Kind, id: string | undefined): Need[] =>
  one(kind, id).map((need) => ({ ...need, onlyAtFirst: true }));

/**
 * Which things need which. A thing that nobody wants, such as the platform's own networks, is assumed to
 * exist.
 */
const NEEDS: { [K in Kind]: (spec: Specs[K]) => Need[] } = {
  network: () => [],
  security_group: () => [],
  secret: () => [],
  subnet: ({ networkId }) => one('network', networkId),
  router: ({ interfaces }) =>
    Object.values(interfaces).flatMap(({ networkId, subnetId }) => [
      ...one('network', networkId),
      ...one('subnet', subnetId),
    ]),
  port: ({ networkId, addresses, groups, formerFloatingIpId }) => [
    ...one('network', networkId),
    ...Object.values(addresses).flatMap(({ subnetId }) => one('subnet', subnetId)),
    ...all('security_group', groups),
    ...atFirst('floating_ip', formerFloatingIpId),
  ],
  floating_ip: ({ target, formerPortId }) => [
    ...one('port', target?.portId),
    ...one('router', target?.routerId),
    ...atFirst('port', formerPortId),
  ],
  load_balancer: ({ portId, listeners, pools }) => {
    const ofPools = Object.values(pools);
    const subnets = ofPools.flatMap(({ members }) => Object.values(members).map(({ subnetId }) => subnetId));
    const secrets = [
      ...Object.values(listeners).flatMap(({ certificates: of }) =>
        of ? [of.secretId, ...of.furtherIds] : [],
      ),
      ...ofPools.flatMap(({ tls = {} }) => [tls.secretId, tls.authoritiesId, tls.revokedId]),
    ];
    return [
      ...one('port', portId),
      ...[...new Set(subnets)].flatMap((id) => one('subnet', id)),
      ...[...new Set(secrets)].flatMap((id) => one('secret', id)),
    ];
  },
  ddos_profile: () => [],
  volume: ({ source }) => {
    if (!source) return [];
    return 'imageId' in source ? atFirst('image', source.imageId) : atFirst('snapshot', source.snapshotId);
  },
  snapshot: ({ volumeId }) => one('volume', volumeId),
  image: ({ volumeId }) => atFirst('volume', volumeId),
  file_share: ({ subnet }) => [...one('network', subnet?.networkId), ...one('subnet', subnet?.subnetId)],
  server_group: () => [],
  machine: ({ ports, disks, serverGroupId }) => [
    ...all('port', ports),
    ...all('volume', disks),
    ...one('server_group', serverGroupId),
  ],
  cluster: ({ network, pools }) => {
    const needs = [
      ...one('network', network.networkId),
      ...one('subnet', network.subnetId),
      ...Object.values(pools).flatMap(({ securityGroups, nodes }) => [
        ...all('security_group', securityGroups),
        ...Object.values(nodes).flatMap(({ ports }) => Object.values(ports).flatMap(NEEDS.port)),
      ]),
    ];
    // All nodes need much the same things.
    return [...new Map(needs.map((need) => [`${need.kind}:${need.id}`, need])).values()];
  },
};

export function needsOf<K extends Kind>(kind: K, spec: Specs[K]): Need[] {
  return NEEDS[kind](spec);
}
