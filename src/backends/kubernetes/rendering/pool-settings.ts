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

/**
 * Returns the file from which CRI-O's unit takes these flags; undefined without any. systemd reads the value in quotes
 * (systemd.exec(5), EnvironmentFile=) and then splits it into words (systemd.service(5)), so it is escaped twice.
 */
export function crioEnvironment(pool: ClusterPoolSpec): string | undefined {
  // Earlier releases took more than one line.
  const words = crioFlags(pool).map((flag) => escaped(flag.replace(/\p{Cc}+/gu, ' '), /[\s"'\\]/g));
  return words.length === 0 ? undefined : `CRIO_CONFIG_OPTIONS="${escaped(words.join(' '), /["\\$`]/g)}"\n`;
}

const escaped = (text: string, special: RegExp): string => text.replace(special, '\\$&');

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
