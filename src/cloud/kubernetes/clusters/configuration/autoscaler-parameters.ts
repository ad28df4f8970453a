/** How to read a parameter's text. The limits of numbers are inclusive. */
export type ParameterKind =
  | { kind: 'bool' }
  | { kind: 'expander' }
  | { kind: 'int' | 'float'; min: number; max: number }
  | { kind: 'duration'; positive: boolean };

const INT32_MAX = 2_147_483_647;
const INT32_MIN = -2_147_483_648;
/** The highest priority that users may give to pods; higher ones belong to the system (Kubernetes PriorityClass). */
const MAX_USER_PRIORITY = 1_000_000_000;

const bool = { kind: 'bool' } as const;
const count = { kind: 'int', min: 0, max: INT32_MAX } as const;
const delay = { kind: 'duration', positive: false } as const;
const interval = { kind: 'duration', positive: true } as const;

/** All parameters, offered on every Kubernetes version. Kinds follow the specification, ranges the program. */
export const AUTOSCALER_PARAMETERS: ReadonlyMap<string, ParameterKind> = new Map<string, ParameterKind>([
  ['balance-similar-node-groups', bool],
  ['expander', { kind: 'expander' }],
  // The program's flag is an integer. The specification says float, which is the wider kind.
  ['expendable-pods-priority-cutoff', { kind: 'float', min: INT32_MIN, max: MAX_USER_PRIORITY }],
  ['ignore-daemonsets-utilization', bool],
  ['max-empty-bulk-delete', count],
  ['max-graceful-termination-sec', count],
  ['max-node-provision-time', interval],
  ['max-total-unready-percentage', { kind: 'float', min: 0, max: 100 }],
  ['new-pod-scale-up-delay', delay],
  ['ok-total-unready-count', count],
  ['scale-down-delay-after-add', delay],
  ['scale-down-delay-after-delete', delay],
  ['scale-down-delay-after-failure', delay],
  ['scale-down-enabled', bool],
  ['scale-down-unneeded-time', delay],
  ['scale-down-unready-time', delay],
  ['scale-down-utilization-threshold', { kind: 'float', min: 0, max: 1 }],
  ['scan-interval', interval],
  ['skip-nodes-with-custom-controller-pods', bool],
  ['skip-nodes-with-local-storage', bool],
  ['skip-nodes-with-system-pods', bool],
]);
