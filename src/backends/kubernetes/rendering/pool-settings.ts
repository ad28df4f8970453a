import type { FieldProblem } from '../../../lib/errors.ts';
import {
  crioProblems,
  KUBELET_NAMES,
  KUBELET_SETTINGS,
  kubeletProblems,
  type NodeSetting,
} from '../../../lib/node-settings.ts';
import type { ClusterPoolSpec } from '../../contract/specs.ts';
import { sorted } from './objects.ts';

/** Returns the pool's part of the KubeletConfiguration of its nodes. */
export function kubeletConfiguration({ kubeletConfig }: ClusterPoolSpec): Record<string, unknown> {
  const fields = Object.entries(kubeletConfig).map(([name, text]) => {
    const field = KUBELET_NAMES[name] ?? name;
    return [field, parsed(text, KUBELET_SETTINGS[field]?.kind ?? 'text')];
  });
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    ...sorted(Object.fromEntries(fields)),
  };
}

/** Returns the flags with which CRI-O runs on the pool's nodes, sorted. */
export function crioFlags({ crioConfig }: ClusterPoolSpec): string[] {
  return Object.entries(crioConfig)
    .map(([name, value]) => `--${name}=${value}`)
    .sort();
}

/** Returns what would keep the nodes of the pools from starting. */
export function poolProblems(pools: Readonly<Record<string, ClusterPoolSpec>>): FieldProblem[] {
  return Object.entries(pools).flatMap(([name, { kubeletConfig, crioConfig }]) => [
    ...kubeletProblems(kubeletConfig, `pools.${name}.kubelet_config`),
    ...crioProblems(crioConfig, `pools.${name}.crio_config`),
  ]);
}

function parsed(text: string, kind: NodeSetting['kind']): unknown {
  if (kind === 'int') return Number(text);
  if (kind === 'bool') return text === 'true';
  return kind === 'texts' ? text.split(',') : text;
}
