import { type Static, Type } from 'typebox';
import type { FieldProblem } from './errors.ts';
import { closestName } from './texts.ts';
import { isoSeconds } from './time.ts';
import { Input } from './wire.ts';

/** Nanoseconds by unit, as in Go's `time.ParseDuration`. Both signs for micro are in use. */
const NANOSECONDS: Record<string, bigint> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
/** A Go duration is a signed 64-bit number of nanoseconds, about 292 years. */
const MAX_NANOSECONDS = 2n ** 63n - 1n;
const MIN_NANOSECONDS = -(2n ** 63n);
const MAX_LENGTH = 256;

/**
 * Returns the nanoseconds of a Go duration such as `1h30m`, `1.5s` or `-10ms`; undefined if Go would refuse
 * the text. A bare `0` needs no unit, every other number does; days, blanks and exponents are not allowed.
 */
export function parseGoDuration(text: string): bigint | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const unsigned = text.replace(/^[+-]/, '');
  if (unsigned === '0') return 0n;
  if (unsigned === '') return undefined;
  const part = /(\d+(?:\.\d*)?|\.\d+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/y;
  let total = 0n;
  while (part.lastIndex < unsigned.length) {
    const match = part.exec(unsigned);
    if (!match) return undefined;
    total += partNanoseconds(match[1] ?? '', NANOSECONDS[match[2] ?? ''] ?? 0n);
  }
  const nanoseconds = text.startsWith('-') ? -total : total;
  return nanoseconds > MAX_NANOSECONDS || nanoseconds < MIN_NANOSECONDS ? undefined : nanoseconds;
}

/** Fractions of a nanosecond are cut off, as in Go. */
function partNanoseconds(number: string, unit: bigint): bigint {
  const [whole = '', fraction = ''] = number.split('.');
  const ofFraction = fraction === '' ? 0n : (BigInt(fraction) * unit) / 10n ** BigInt(fraction.length);
  return BigInt(whole === '' ? '0' : whole) * unit + ofFraction;
}

/*
 * What the owner of a pool may set of the kubelet and of CRI-O on its nodes, and what these programs refuse: they don't
 * start with it, so that no node would come.
 */

/** A setting's value is a text. `kind` says what the program reads in it. */
export interface NodeSetting {
  kind: 'bool' | 'int' | 'text' | 'texts';
  meant: string;
  fits(text: string): boolean;
}
type Settings = Readonly<Record<string, NodeSetting>>;

const INT = /^-?(?:0|[1-9]\d{0,14})$/;
const MAX_INT32 = 2 ** 31 - 1;
const SECOND = 1_000_000_000n;
/** Kernel settings that each pod has for itself (kubelet, sysctl/namespace.go); the rest belong to the whole node. */
const OF_POD = /^(?:kernel\.sem|(?:kernel\.shm|kernel\.msg|fs\.mqueue\.|net\.)[a-zA-Z0-9_.*/-]*)$/;
const OF_POD_MEANT = 'kernel.sem or begins with kernel.shm, kernel.msg, fs.mqueue. or net.';
const ULIMITS = 'core cpu data fsize locks memlock msgqueue nice nofile nproc rss rtprio rttime sigpending stack'.split(
  ' ',
);

const bool: NodeSetting = {
  kind: 'bool',
  meant: 'true or false',
  fits: (text) => text === 'true' || text === 'false',
};

function int(min: number, max = MAX_INT32): NodeSetting {
  const meant = `a whole number from ${min} to ${max}`;
  return { kind: 'int', meant, fits: (text) => INT.test(text) && Number(text) >= min && Number(text) <= max };
}

function oneOf(...names: string[]): NodeSetting {
  return { kind: 'text', meant: `one of ${names.join(', ')}`, fits: (text) => names.includes(text) };
}

function duration(meant: string, fits: (nanoseconds: bigint) => boolean): NodeSetting {
  return {
    kind: 'text',
    meant,
    fits(text) {
      const nanoseconds = parseGoDuration(text);
      return nanoseconds !== undefined && fits(nanoseconds);
    },
  };
}

function list(meant: string, fits: (entry: string) => boolean): NodeSetting {
  return {
    kind: 'texts',
    meant: `a list with commas, ${meant}`,
    fits: (text) => text.split(',').every(fits),
  };
}

const age = duration('a duration such as 30s that is not negative', (nanoseconds) => nanoseconds >= 0n);
const grace = duration('0s or a duration of at least 1s', (nanoseconds) => nanoseconds === 0n || nanoseconds >= SECOND);
const registries = list('each entry a host such as registry.example.com:5000', (entry) =>
  /^[a-zA-Z0-9*[][a-zA-Z0-9.:/[\]*_-]*$/.test(entry),
);

/**
 * Fields of KubeletConfiguration v1beta1 with the limits of the kubelet (pkg/kubelet/apis/config/validation). Left out
 * are fields that belong to the platform, and those that need others: cpuCFSQuotaPeriod a feature gate, and the memory
 * manager's policy Static reserved memory.
 */
export const KUBELET_SETTINGS: Settings = {
  allowedUnsafeSysctls: list(`each entry ${OF_POD_MEANT}`, (entry) => OF_POD.test(entry)),
  containerLogMaxFiles: int(2),
  containerLogMaxSize: {
    kind: 'text',
    meant: 'a size such as 10Mi',
    fits: (text) => /^[1-9]\d{0,14}(?:k|M|G|Ki|Mi|Gi)?$/.test(text),
  },
  cpuCFSQuota: bool,
  cpuManagerPolicy: oneOf('none', 'static'),
  evictionMaxPodGracePeriod: int(-MAX_INT32),
  imageGCHighThresholdPercent: int(0, 100),
  imageGCLowThresholdPercent: int(0, 100),
  imageMaximumGCAge: age,
  imageMinimumGCAge: age,
  maxParallelImagePulls: int(1),
  maxPods: int(0),
  memoryManagerPolicy: oneOf('None'),
  podPidsLimit: int(-1, 2 ** 53 - 1),
  podsPerCore: int(0),
  serializeImagePulls: bool,
  shutdownGracePeriod: grace,
  shutdownGracePeriodCriticalPods: grace,
  topologyManagerPolicy: oneOf('none', 'best-effort', 'restricted', 'single-numa-node'),
  topologyManagerScope: oneOf('container', 'pod'),
};
/** Clients know the field by the name of a flag that the kubelet had before. */
export const KUBELET_NAMES: Readonly<Record<string, string>> = { podMaxPids: 'podPidsLimit' };

/** Flags of CRI-O (crio.8) with the limits that it checks at its start (cri-o, pkg/config). */
export const CRIO_SETTINGS: Settings = {
  'ctr-stop-timeout': int(0),
  'default-env': list('each entry of the form NAME=value', (entry) => /^[^=\s]+=/.test(entry)),
  'default-sysctls': list(
    `each entry of the form name=value, where the name is ${OF_POD_MEANT}`,
    (entry) => entry.includes('=') && OF_POD.test(entry.slice(0, entry.indexOf('='))),
  ),
  'default-ulimits': list(
    `each entry of the form name=soft:hard, such as nofile=1024:2048, where the name is one of ${ULIMITS.join(', ')}`,
    isUlimit,
  ),
  'image-volumes': oneOf('mkdir', 'bind', 'ignore'),
  'insecure-registry': registries,
  'log-level': oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'panic'),
  'log-size-max': {
    kind: 'int',
    meant: 'a number of bytes of at least 8192, or -1 for no limit',
    fits: (text) => INT.test(text) && (Number(text) < 0 || Number(text) >= 8192),
  },
  'pids-limit': int(-1, 2 ** 53 - 1),
  'read-only': bool,
  registry: registries,
};

export function kubeletProblems(given: Readonly<Record<string, string>>, path: string): FieldProblem[] {
  const problems = settingProblems(given, { known: KUBELET_SETTINGS, names: KUBELET_NAMES, path });
  return problems.length > 0 ? problems : contradictions(given, path);
}

export function crioProblems(given: Readonly<Record<string, string>>, path: string): FieldProblem[] {
  return settingProblems(given, { known: CRIO_SETTINGS, names: {}, path });
}

function settingProblems(
  given: Readonly<Record<string, string>>,
  { known, names, path }: { known: Settings; names: Readonly<Record<string, string>>; path: string },
): FieldProblem[] {
  return Object.entries(given).flatMap(([name, text]) => {
    const setting = Object.hasOwn(known, names[name] ?? name) ? known[names[name] ?? name] : undefined;
    const complain = (message: string) => [{ field: `${path}.${name}`, message }];
    // Files of nodes have one setting in a line.
    if (/\p{Cc}/u.test(text)) return complain('Must be a text in one line.');
    if (setting) return setting.fits(text) ? [] : complain(`Must be ${setting.meant}.`);
    const all = Object.keys(known);
    const closest = closestName(name, all);
    return complain(
      `Unknown setting.${closest === undefined ? '' : ` Did you mean ${closest}?`} Pools may set: ${all.join(', ')}.`,
    );
  });
}

/** Returns what the kubelet refuses of settings that are sound one by one. What isn't given has the kubelet's default. */
function contradictions(given: Readonly<Record<string, string>>, path: string): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const check = (sound: boolean, field: string, message: string) => {
    if (!sound) problems.push({ field: `${path}.${field}`, message });
  };
  const number = (name: string, otherwise: number) => Number(given[name] ?? otherwise);
  const time = (name: string, otherwise: string) => parseGoDuration(given[name] ?? otherwise) ?? 0n;

  for (const [older, now] of Object.entries(KUBELET_NAMES)) {
    check(given[older] === undefined || given[now] === undefined, older, `Is the same as ${now}; send one.`);
  }
  const [low, high] = [number('imageGCLowThresholdPercent', 80), number('imageGCHighThresholdPercent', 85)] as const;
  const lower = given.imageGCLowThresholdPercent === undefined ? 'High' : 'Low';
  check(
    low < high,
    `imageGC${lower}ThresholdPercent`,
    `imageGCLowThresholdPercent, which is ${low}, must be less than imageGCHighThresholdPercent, which is ${high}.`,
  );
  const oldest = time('imageMaximumGCAge', '0');
  check(
    oldest === 0n || oldest > time('imageMinimumGCAge', '2m'),
    'imageMaximumGCAge',
    'Must be 0s or more than imageMinimumGCAge, which is 2m if it is not set.',
  );
  check(
    given.serializeImagePulls === 'false' || number('maxParallelImagePulls', 1) === 1,
    'maxParallelImagePulls',
    'Must be 1 unless serializeImagePulls is false.',
  );
  check(
    time('shutdownGracePeriodCriticalPods', '0') <= time('shutdownGracePeriod', '0'),
    'shutdownGracePeriodCriticalPods',
    'Must be at most shutdownGracePeriod, which is 0s if it is not set.',
  );
  return problems;
}

/** As docker/go-units reads it: a hard limit of -1 has no bound, and a soft limit is at most the hard one. */
function isUlimit(entry: string): boolean {
  const [, name = '', soft = '', hard = soft] = /^([a-z]+)=([^:]+)(?::([^:]+))?$/.exec(entry) ?? [];
  if (!ULIMITS.includes(name) || !INT.test(soft) || !INT.test(hard)) return false;
  return Number(hard) === -1 || (Number(soft) !== -1 && Number(soft) <= Number(hard));
}

/** How far back the load of something is asked for, and at most. */
export const metricsQuestion = (name: string, most: number, description = 'How far back to look') =>
  Input(
    name,
    {
      time_unit: Type.Enum(['day', 'hour'], {
        type: 'string',
        description: 'Unit of the interval',
        examples: ['hour'],
      }),
      time_interval: Type.Integer({ minimum: 1, maximum: most, description, examples: [6] }),
    },
    { time_unit: 'hour', time_interval: 6 },
  );
export const MetricsQuestion = metricsQuestion('MetricsQuestion', 720);
export type MetricsQuestion = Static<typeof MetricsQuestion>;

/** Returns the hours of the interval. */
export const hoursOf = ({ time_unit, time_interval }: MetricsQuestion): number =>
  time_interval * (time_unit === 'day' ? 24 : 1);

const HOUR_MS = 3_600_000;
/** As many as a chart can show. */
const POINTS = 60;

/**
 * Returns the times to look at in the last hours, none of them before the thing was there; undefined if there are none.
 * They are multiples of the step, so that a later question has the same times.
 */
export function stepsOf(
  hours: number,
  { createdAt, now }: { createdAt: Date; now: Date },
  stepMs = (hours * HOUR_MS) / POINTS,
): { from: Date; to: Date; stepMs: number } | undefined {
  const to = Math.floor(now.getTime() / stepMs) * stepMs;
  const created = Math.ceil(createdAt.getTime() / stepMs) * stepMs;
  const from = Math.max(to - hours * HOUR_MS + stepMs, created);
  return from > to ? undefined : { from: new Date(from), to: new Date(to), stepMs };
}

/** Returns the times of up to 60 points of the interval since something is there, oldest first. */
export function idleTimes(question: MetricsQuestion, since: Date, now: Date): string[] {
  const length = hoursOf(question) * HOUR_MS;
  return Array.from({ length: POINTS }, (_, index) => now.getTime() - (length * (POINTS - 1 - index)) / POINTS)
    .filter((time) => time >= since.getTime())
    .map((time) => isoSeconds(new Date(time)));
}
