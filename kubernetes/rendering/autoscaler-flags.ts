/** What the platform wants where the cluster's owner said nothing. */
const DEFAULTS: Readonly<Record<string, string>> = {
  expander: 'random',
  'max-empty-bulk-delete': '10',
  'max-graceful-termination-sec': '600',
  'max-node-provision-time': '15m',
  'new-pod-scale-up-delay': '0s',
  'scale-down-delay-after-add': '5m',
  'scale-down-delay-after-delete': '0s',
  'scale-down-unneeded-time': '5m',
  'scale-down-utilization-threshold': '0.99',
  'scan-interval': '10s',
};

/** Parameters whose flag was replaced, with the first minor version that gets the new flag. */
const RENAMED: Readonly<Record<string, { since: number; flag: string }>> = {
  // Deprecated in 1.32, and missing from later versions, which exit at an unknown flag.
  'max-empty-bulk-delete': { since: 32, flag: 'max-scale-down-parallelism' },
};

const CUTOFF = 'expendable-pods-priority-cutoff';

/** Returns the autoscaler's flags for a minor version, sorted by name. Every parameter is the name of a flag. */
export function autoscalerFlags(overrides: Readonly<Record<string, string>>, minor: number): string[] {
  return Object.entries({ ...DEFAULTS, ...overrides })
    .map(([name, value]) => {
      const renamed = RENAMED[name];
      const flag = renamed && minor >= renamed.since ? renamed.flag : name;
      return `--${flag}=${name === CUTOFF ? (wholeNumber(value) ?? value) : value}`;
    })
    .sort();
}

/** Whether the autoscaler would start with this cutoff. The API takes decimals; the flag is an integer. */
export const isWholeCutoff = (overrides: Readonly<Record<string, string>>): boolean =>
  overrides[CUTOFF] === undefined || wholeNumber(overrides[CUTOFF]) !== undefined;

function wholeNumber(text: string): string | undefined {
  const number = Number(text);
  // `+ 0` makes zero of minus zero.
  return Number.isInteger(number) ? String(number + 0) : undefined;
}
