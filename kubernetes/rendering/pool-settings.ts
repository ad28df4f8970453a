import type { ClusterPoolSpec } from '../../src/backends/contract/specs.ts';
import type { FieldProblem } from '../../src/lib/errors.ts';
import { CRIO_SETTINGS, KUBELET_NAMES, KUBELET_SETTINGS, type NodeSetting } from '../../src/lib/node-settings.ts';
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

/** Earlier releases took them. */
const FORMER_KUBELET_SETTINGS = ['cpuCFSQuotaPeriod'];

/**
 * Returns what of the pools can't be turned into settings of their programs. That is less than what is refused of a
 * request: earlier releases took more, and a pool that has it must not keep its cluster from changing.
 */
export function poolProblems(pools: Readonly<Record<string, ClusterPoolSpec>>): FieldProblem[] {
  return Object.entries(pools).flatMap(([name, { kubeletConfig, crioConfig }]) => [
    ...Object.entries(kubeletConfig).flatMap(([setting, text]) => {
      const field = KUBELET_NAMES[setting] ?? setting;
      const kind = FORMER_KUBELET_SETTINGS.includes(field) ? 'text' : KUBELET_SETTINGS[field]?.kind;
      return unreadable(kind, text, `pools.${name}.kubelet_config.${setting}`);
    }),
    ...Object.entries(crioConfig).flatMap(([setting, text]) =>
      unreadable(CRIO_SETTINGS[setting]?.kind, text, `pools.${name}.crio_config.${setting}`),
    ),
  ]);
}

function unreadable(kind: NodeSetting['kind'] | undefined, text: string, field: string): FieldProblem[] {
  if (kind === undefined) return [{ field, message: 'Unknown setting.' }];
  if (kind === 'int') {
    return /^-?\d{1,15}$/.test(text) ? [] : [{ field, message: 'Must be a whole number.' }];
  }
  if (kind !== 'bool') return [];
  return text === 'true' || text === 'false' ? [] : [{ field, message: 'Must be true or false.' }];
}

function parsed(text: string, kind: NodeSetting['kind']): unknown {
  if (kind === 'int') return Number(text);
  if (kind === 'bool') return text === 'true';
  return kind === 'texts' ? text.split(',') : text;
}
