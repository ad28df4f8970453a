/** A parameter of the cluster autoscaler, as its documentation and the platform describe it. */
export interface Parameter {
  name: string;
  /** The value of a cluster that doesn't set it. */
  default: string;
  kind: 'bool' | 'duration' | 'expander' | 'float' | 'int';
  /** What may be entered, in words. */
  range: string;
  help: string;
}

const INT32 = '0 to 2147483647';
const DURATION = 'a duration in ns, us, ms, s, m or h, such as 90s or 1h30m; zero or longer';
const POSITIVE = 'a duration in ns, us, ms, s, m or h, such as 90s or 1h30m; longer than zero';

export const EXPANDERS: Readonly<Record<string, string>> = {
  random: 'any pool that fits; must be the last one',
  'most-pods': 'the pool on which the most waiting pods fit',
  'least-waste': 'the pool with the least CPU and memory left idle',
  price: 'the cheapest pool',
  priority: 'the pool with the highest priority, by a ConfigMap in the cluster',
  grpc: 'asks a service of your own',
};

/** All that a cluster can set, in the order of the alphabet. */
export const PARAMETERS: readonly Parameter[] = [
  {
    name: 'balance-similar-node-groups',
    default: 'false',
    kind: 'bool',
    range: 'true or false',
    help: 'Keeps pools of the same flavor and labels at about the same size.',
  },
  {
    name: 'expander',
    default: 'random',
    kind: 'expander',
    range: 'one or more strategies, each once',
    help: 'How a pool is chosen when several could grow. Later strategies decide what earlier ones leave open.',
  },
  {
    name: 'expendable-pods-priority-cutoff',
    default: '-10',
    kind: 'float',
    range: '-2147483648 to 1000000000, a whole number',
    help: 'Pods of a lower priority never make a pool grow, and don’t keep a node from being removed.',
  },
  {
    name: 'ignore-daemonsets-utilization',
    default: 'false',
    kind: 'bool',
    range: 'true or false',
    help: 'Leaves pods of DaemonSets out when the use of a node is measured.',
  },
  {
    name: 'max-empty-bulk-delete',
    default: '10',
    kind: 'int',
    range: `${INT32} nodes`,
    help: 'The most empty nodes that are removed at once.',
  },
  {
    name: 'max-graceful-termination-sec',
    default: '600',
    kind: 'int',
    range: `${INT32} seconds`,
    help: 'How many seconds pods get to end before their node is removed.',
  },
  {
    name: 'max-node-provision-time',
    default: '15m',
    kind: 'duration',
    range: POSITIVE,
    help: 'How long a new node may take to start before another one is tried.',
  },
  {
    name: 'max-total-unready-percentage',
    default: '45',
    kind: 'float',
    range: '0 to 100 percent',
    help: 'If a larger share of the nodes isn’t ready, the autoscaler stops until it has recovered.',
  },
  {
    name: 'new-pod-scale-up-delay',
    default: '0s',
    kind: 'duration',
    range: DURATION,
    help: 'Pods younger than this don’t make a pool grow yet.',
  },
  {
    name: 'ok-total-unready-count',
    default: '3',
    kind: 'int',
    range: `${INT32} nodes`,
    help: 'So many nodes may be unready, whatever share of the cluster they are.',
  },
  {
    name: 'scale-down-delay-after-add',
    default: '5m',
    kind: 'duration',
    range: DURATION,
    help: 'How long no node is removed after one was added.',
  },
  {
    name: 'scale-down-delay-after-delete',
    default: '0s',
    kind: 'duration',
    range: DURATION,
    help: 'How long no further node is removed after one was.',
  },
  {
    name: 'scale-down-delay-after-failure',
    default: '3m',
    kind: 'duration',
    range: DURATION,
    help: 'How long no node is removed after a removal has failed.',
  },
  {
    name: 'scale-down-enabled',
    default: 'true',
    kind: 'bool',
    range: 'true or false',
    help: 'Whether nodes are removed at all when they are no longer needed.',
  },
  {
    name: 'scale-down-unneeded-time',
    default: '5m',
    kind: 'duration',
    range: DURATION,
    help: 'How long a node must be unneeded before it is removed.',
  },
  {
    name: 'scale-down-unready-time',
    default: '20m',
    kind: 'duration',
    range: DURATION,
    help: 'How long a node that isn’t ready must be unneeded before it is removed.',
  },
  {
    name: 'scale-down-utilization-threshold',
    default: '0.99',
    kind: 'float',
    range: '0 to 1, a share of the node',
    help: 'A node whose pods request less than this share of it may be removed.',
  },
  {
    name: 'scan-interval',
    default: '10s',
    kind: 'duration',
    range: POSITIVE,
    help: 'How often the cluster is looked at, to grow or shrink it.',
  },
  {
    name: 'skip-nodes-with-custom-controller-pods',
    default: 'true',
    kind: 'bool',
    range: 'true or false',
    help: 'Keeps nodes that have pods of a controller that the autoscaler doesn’t know.',
  },
  {
    name: 'skip-nodes-with-local-storage',
    default: 'true',
    kind: 'bool',
    range: 'true or false',
    help: 'Keeps nodes whose pods store data on them, such as in emptyDir or hostPath.',
  },
  {
    name: 'skip-nodes-with-system-pods',
    default: 'true',
    kind: 'bool',
    range: 'true or false',
    help: 'Keeps nodes that have pods of kube-system, other than those of DaemonSets.',
  },
];
