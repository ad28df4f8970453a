import type { Cilium, Cni } from '../../../../db/json-columns.ts';
import type { FieldProblem } from '../../../../lib/errors.ts';
import type { CiliumInput, CniInput } from './schema.ts';

const FIELD = 'cni.cilium';
/** The allocator of node ranges uses a bitmap. It refuses IPv6 pools of over 2^16 ranges (Kubernetes cidr_set.go). */
const MAX_NODE_BITS_V6 = 16;

export interface CniContext {
  /** The cluster's CNI; undefined at creation. */
  current: Cni | undefined;
  /** CIDRs from which pods get addresses; null or absent if the cluster has none of that family or if unknown. */
  podsIpPool?: string | null;
  podsIpv6Pool?: string | null;
}

/**
 * Returns the problems of a CNI group. `given` is what the client sent; it decides which field gets the blame.
 * `wanted` is the CNI that the cluster would have.
 */
export function cniProblems(given: CniInput, wanted: Cni, context: CniContext): FieldProblem[] {
  const { current } = context;
  if (current && wanted.provider !== current.provider) {
    return [
      {
        field: 'cni.provider',
        message: `Can't be changed after creation. This cluster uses ${current.provider}: leave the field out, or create another cluster.`,
      },
    ];
  }
  if (wanted.provider !== 'cilium') {
    return given.cilium
      ? [
          {
            field: FIELD,
            message: `Is only allowed with provider cilium. This cluster uses ${wanted.provider}.`,
          },
        ]
      : [];
  }
  if (!wanted.cilium) return [];
  const input = given.cilium ?? {};
  return [
    ...hubbleProblems(input, wanted.cilium),
    ...routingProblems(input, wanted.cilium),
    ...balancingProblems(input, wanted.cilium),
    ...maskProblems(input, wanted.cilium, context),
  ];
}

// The chart refuses the UI without Relay (validate.yaml).
function hubbleProblems(given: CiliumInput, wanted: Cilium): FieldProblem[] {
  if (!wanted.hubble_ui || wanted.hubble_relay) return [];
  return given.hubble_ui === undefined && given.hubble_relay === false
    ? [
        {
          field: `${FIELD}.hubble_relay`,
          message: `Can't be disabled while hubble_ui is enabled: also send "hubble_ui": false.`,
        },
      ]
    : [{ field: `${FIELD}.hubble_ui`, message: 'Requires hubble_relay: also send "hubble_relay": true.' }];
}

// With native routing, the tunnel protocol still matters: DSR may be dispatched over Geneve.
function routingProblems(given: CiliumInput, wanted: Cilium): FieldProblem[] {
  if (wanted.routing_mode === 'native' || wanted.tunnel !== '') return [];
  return [
    {
      field: `${FIELD}.${given.tunnel === undefined ? 'routing_mode' : 'tunnel'}`,
      message: 'An empty tunnel requires native routing: set routing_mode to native, or tunnel to geneve or vxlan.',
    },
  ];
}

// The agent refuses to start otherwise (kube_proxy_replacement.go): only Geneve can carry the packets of DSR.
function balancingProblems(given: CiliumInput, wanted: Cilium): FieldProblem[] {
  if (wanted.lb_mode === 'snat' || wanted.routing_mode === 'native' || wanted.tunnel !== 'vxlan') return [];
  return given.lb_mode === undefined
    ? [
        {
          field: `${FIELD}.tunnel`,
          message: `Must not be vxlan while lb_mode is ${wanted.lb_mode}: use geneve, or set lb_mode to snat.`,
        },
      ]
    : [
        {
          field: `${FIELD}.lb_mode`,
          message: `${wanted.lb_mode} doesn't work with tunnel vxlan: set tunnel to geneve, or use snat.`,
        },
      ];
}

function maskProblems(given: CiliumInput, wanted: Cilium, context: CniContext): FieldProblem[] {
  return [
    ...maskProblem('mask_size', given, wanted, context.current, context.podsIpPool),
    ...maskProblem('mask_size_v6', given, wanted, context.current, context.podsIpv6Pool),
  ];
}

function maskProblem(
  name: 'mask_size' | 'mask_size_v6',
  given: CiliumInput,
  wanted: Cilium,
  current: Cni | undefined,
  pool: string | null | undefined,
): FieldProblem[] {
  const field = `${FIELD}.${name}`;
  if (current?.cilium) {
    const fixed = current.cilium[name];
    const kept = given[name] === undefined || given[name] === fixed;
    return kept
      ? []
      : [
          {
            field,
            message: `Can't be changed after creation. This cluster uses ${fixed}: leave the field out.`,
          },
        ];
  }
  const length = Number(pool?.split('/')[1] ?? Number.NaN);
  if (!pool || Number.isNaN(length)) return [];
  if (wanted[name] < length) {
    return [{ field, message: `Must be at least ${length}, the prefix length of the pod range ${pool}.` }];
  }
  const longest = length + MAX_NODE_BITS_V6;
  return name === 'mask_size_v6' && wanted[name] > longest
    ? [
        {
          field,
          message: `Must be at most ${longest}, which is the prefix length of the pod range ${pool} plus ${MAX_NODE_BITS_V6}, but is ${wanted[name]}.`,
        },
      ]
    : [];
}
