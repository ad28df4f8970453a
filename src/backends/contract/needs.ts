import type { Kind } from './backend.ts';
import type { Specs } from './specs.ts';

/** Something else that a thing needs to be as wanted before it can be brought about itself. */
export interface Need {
  kind: Kind;
  id: string;
  /** It may go once the thing is there, such as the snapshot that a volume was filled from. */
  onlyAtFirst?: boolean;
}

const all = (kind: Kind, byId: object): Need[] => Object.keys(byId).map((id) => ({ kind, id }));

/** The order among things. What nobody wants, such as the platform's own networks, is taken to be there. */
const NEEDS: { [K in Kind]: (spec: Specs[K]) => Need[] } = {
  network: () => [],
  security_group: () => [],
  subnet: ({ networkId }) => [{ kind: 'network', id: networkId }],
  port: ({ networkId, addresses, groups }) => [
    { kind: 'network', id: networkId },
    ...Object.values(addresses).map(({ subnetId }): Need => ({ kind: 'subnet', id: subnetId })),
    ...all('security_group', groups),
  ],
  floating_ip: ({ target, formerPortId }) => [
    ...(target ? [{ kind: 'port', id: target.portId } as const] : []),
    ...(formerPortId === undefined ? [] : [{ kind: 'port', id: formerPortId, onlyAtFirst: true } as const]),
  ],
  volume: ({ source }) => {
    if (!source) return [];
    return 'imageId' in source
      ? [{ kind: 'image', id: source.imageId, onlyAtFirst: true }]
      : [{ kind: 'snapshot', id: source.snapshotId, onlyAtFirst: true }];
  },
  snapshot: ({ volumeId }) => [{ kind: 'volume', id: volumeId }],
  image: ({ volumeId }) => [{ kind: 'volume', id: volumeId, onlyAtFirst: true }],
  file_share: ({ subnet }) =>
    subnet
      ? [
          { kind: 'network', id: subnet.networkId },
          { kind: 'subnet', id: subnet.subnetId },
        ]
      : [],
  machine: ({ ports, disks }) => [...all('port', ports), ...all('volume', disks)],
  cluster: ({ network, pools }) => {
    const needs = [
      ...(network.networkId === undefined ? [] : [{ kind: 'network', id: network.networkId } as const]),
      ...(network.subnetId === undefined ? [] : [{ kind: 'subnet', id: network.subnetId } as const]),
      ...Object.values(pools).flatMap(({ securityGroups, nodes }) => [
        ...all('security_group', securityGroups),
        ...Object.values(nodes).flatMap(({ ports }) => Object.values(ports).flatMap(NEEDS.port)),
      ]),
    ];
    // All nodes need much the same.
    return [...new Map(needs.map((need) => [`${need.kind}:${need.id}`, need])).values()];
  },
};

export function needsOf<K extends Kind>(kind: K, spec: Specs[K]): Need[] {
  return NEEDS[kind](spec);
}
