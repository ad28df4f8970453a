import type { FieldProblem } from '../../../lib/errors.ts';
import { parseGoDuration } from '../../../lib/go-duration.ts';
import type { ClusterPoolSpec } from '../../contract/specs.ts';
import { sorted } from './objects.ts';

type ValueKind = 'bool' | 'duration' | 'int' | 'size' | 'text' | 'texts';

/** Fields of KubeletConfiguration that the owner of a pool may set. An unknown one would be ignored by the kubelet. */
const KUBELET: Readonly<Record<string, ValueKind>> = {
  allowedUnsafeSysctls: 'texts',
  containerLogMaxFiles: 'int',
  containerLogMaxSize: 'size',
  cpuCFSQuota: 'bool',
  cpuCFSQuotaPeriod: 'duration',
  cpuManagerPolicy: 'text',
  evictionMaxPodGracePeriod: 'int',
  imageGCHighThresholdPercent: 'int',
  imageGCLowThresholdPercent: 'int',
  imageMaximumGCAge: 'duration',
  imageMinimumGCAge: 'duration',
  maxParallelImagePulls: 'int',
  maxPods: 'int',
  memoryManagerPolicy: 'text',
  podPidsLimit: 'int',
  podsPerCore: 'int',
  serializeImagePulls: 'bool',
  shutdownGracePeriod: 'duration',
  shutdownGracePeriodCriticalPods: 'duration',
  topologyManagerPolicy: 'text',
  topologyManagerScope: 'text',
};
/** Clients know the field by the name of a flag that the kubelet had before. */
const KUBELET_NAMES: Readonly<Record<string, string>> = { podMaxPids: 'podPidsLimit' };

/** Flags of CRI-O that the owner of a pool may set. It exits at a flag or a value that it doesn't know. */
const CRIO: Readonly<Record<string, ValueKind>> = {
  'ctr-stop-timeout': 'int',
  'default-env': 'texts',
  'default-sysctls': 'texts',
  'default-ulimits': 'texts',
  'image-volumes': 'text',
  'insecure-registry': 'texts',
  'log-level': 'text',
  'log-size-max': 'int',
  'pids-limit': 'int',
  'read-only': 'bool',
  registry: 'texts',
};

/** Files of nodes have one setting in a line. */
const isOneLine = (text: string) => /^\P{Cc}+$/u.test(text);

const READABLE: { [Kind in ValueKind]: (text: string) => boolean } = {
  bool: (text) => text === 'true' || text === 'false',
  duration: (text) => parseGoDuration(text) !== undefined,
  int: (text) => /^-?\d{1,15}$/.test(text),
  size: (text) => /^\d+(?:[KMG]i?)?$/.test(text),
  text: isOneLine,
  texts: isOneLine,
};
const MEANT: Record<ValueKind, string> = {
  bool: 'true or false',
  duration: 'a duration such as 30s',
  int: 'a whole number',
  size: 'a size such as 10Mi',
  text: 'a text in one line',
  texts: 'a list with commas, in one line',
};

/** Returns the pool's part of the KubeletConfiguration of its nodes. */
export function kubeletConfiguration({ kubeletConfig }: ClusterPoolSpec): Record<string, unknown> {
  const fields = Object.entries(kubeletConfig).map(([name, text]) => {
    const field = KUBELET_NAMES[name] ?? name;
    return [field, parsed(text, KUBELET[field] ?? 'text')];
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
    ...settingProblems(kubeletConfig, {
      known: KUBELET,
      names: KUBELET_NAMES,
      path: `pools.${name}.kubelet_config`,
    }),
    ...settingProblems(crioConfig, { known: CRIO, names: {}, path: `pools.${name}.crio_config` }),
  ]);
}

function settingProblems(
  given: Readonly<Record<string, string>>,
  of: { known: Readonly<Record<string, ValueKind>>; names: Readonly<Record<string, string>>; path: string },
): FieldProblem[] {
  return Object.entries(given).flatMap(([name, text]) => {
    const kind = of.known[of.names[name] ?? name];
    const field = `${of.path}.${name}`;
    if (kind === undefined) {
      return [{ field, message: `Unknown setting. Use one of: ${Object.keys(of.known).join(', ')}.` }];
    }
    return READABLE[kind](text) ? [] : [{ field, message: `Must be ${MEANT[kind]}.` }];
  });
}

function parsed(text: string, kind: ValueKind): unknown {
  if (kind === 'int') return Number(text);
  if (kind === 'bool') return text === 'true';
  return kind === 'texts' ? text.split(',') : text;
}
