import type { FieldProblem } from '../../../lib/errors.ts';

/*
 * Labels and taints as the Kubernetes API server accepts them (apimachinery validation.go), and as the kubelet and the
 * node controllers leave them to the owner of the pool.
 */

const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/;
const VALUE = /^(?:[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?$/;
const DOMAIN_LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const MAX_DOMAIN = 253;
const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

const KEY_RULE =
  'The key must be a name of up to 63 letters, digits, hyphens, underscores and dots that starts and ends with a letter or digit, such as tier. It may have a domain as a prefix, such as example.com/tier.';
const VALUE_RULE =
  'Must be empty or up to 63 letters, digits, hyphens, underscores and dots that start and end with a letter or digit.';

/**
 * What the kubelet finds out about its machine, and writes again whenever it starts (kubelet_node_status.go). Other labels
 * of Kubernetes, which a kubelet couldn't give itself, are the pool's to set: nodes are labelled from outside.
 */
const OF_MACHINE = [
  'beta.kubernetes.io/arch',
  'beta.kubernetes.io/instance-type',
  'beta.kubernetes.io/os',
  'failure-domain.beta.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'kubernetes.io/arch',
  'kubernetes.io/hostname',
  'kubernetes.io/os',
  'node.kubernetes.io/instance-type',
  'topology.kubernetes.io/region',
  'topology.kubernetes.io/zone',
];
/** The taints by which the node lifecycle controller says how a node is. It puts them there and takes them away. */
const OF_CONDITIONS = [
  'disk-pressure',
  'memory-pressure',
  'network-unavailable',
  'not-ready',
  'pid-pressure',
  'unreachable',
  'unschedulable',
].map((name) => `node.kubernetes.io/${name}`);

export function labelProblems(labels: Readonly<Record<string, string>>, path: string): FieldProblem[] {
  return Object.entries(labels).flatMap(([key, value]) => {
    const complain = (message: string) => [{ field: `${path}.${key}`, message }];
    if (!isKey(key)) return complain(KEY_RULE);
    if (OF_MACHINE.includes(key)) {
      return complain('Each node has a value of its own for this label. Leave it out.');
    }
    return VALUE.test(value) ? [] : complain(VALUE_RULE);
  });
}

/** Returns the problems of taints. A taint's value reads `value:Effect`; the part before the colon may be empty. */
export function taintProblems(taints: Readonly<Record<string, string>>, path: string): FieldProblem[] {
  return Object.entries(taints).flatMap(([key, text]) => {
    if (!isKey(key)) return [{ field: `${path}.${key}`, message: KEY_RULE }];
    if (OF_CONDITIONS.includes(key)) {
      const message = `Kubernetes itself adds and removes this taint. Use a key of your own, such as example.com/${key.slice(key.indexOf('/') + 1)}.`;
      return [{ field: `${path}.${key}`, message }];
    }
    const colon = text.lastIndexOf(':');
    const sound = colon >= 0 && VALUE.test(text.slice(0, colon)) && EFFECTS.includes(text.slice(colon + 1));
    const message = `Must have the form value:Effect, such as web:NoSchedule, with one of the effects ${EFFECTS.join(', ')}.`;
    return sound ? [] : [{ field: `${path}.${key}`, message }];
  });
}

function isKey(key: string): boolean {
  const slash = key.indexOf('/');
  if (slash < 0) return NAME.test(key);
  const domain = key.slice(0, slash);
  return (
    domain.length <= MAX_DOMAIN &&
    domain.split('.').every((label) => DOMAIN_LABEL.test(label)) &&
    NAME.test(key.slice(slash + 1))
  );
}
