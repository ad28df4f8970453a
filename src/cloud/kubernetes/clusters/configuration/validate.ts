import type { ClusterConfiguration } from '../../../../db/json-columns.ts';
import { type DdosContext, ddosProfileProblems } from '../../../../lib/ddos-profile.ts';
import type { FieldProblem } from '../../../../lib/errors.ts';
import { type LoggingContext, loggingProblems } from '../../../../lib/log-forwarding.ts';
import { parseGoDuration } from '../../../../lib/node-settings.ts';
import { closestName } from '../../../../lib/texts.ts';
import { type CniContext, cniProblems } from './cni.ts';
import { DEFAULT_CONFIGURATION } from './configuration.ts';
import { initialConfiguration, mergeConfiguration } from './merge.ts';
import { oidcProblems } from './oidc.ts';
import { type ClusterUpdate, expanderFault } from './schema.ts';
import { type SlurmContext, slurmProblems } from './slurm.ts';

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

// Decimal only. Go also reads hexadecimal, octal (a leading zero), exponents, infinity and underscores, but nobody
// means these here.
const INTEGER = /^[+-]?(?:0|[1-9]\d*)$/;
const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/;

/** Returns the problems of autoscaler overrides. A wrong name or value would keep the autoscaler from starting. */
export function autoscalerProblems(overrides: Readonly<Record<string, string>>): FieldProblem[] {
  return Object.entries(overrides).flatMap(([name, value]) => {
    const parameter = AUTOSCALER_PARAMETERS.get(name);
    const message = parameter ? valueFault(parameter, value) : unknownName(name);
    return message === undefined ? [] : [{ field: `autoscaler_config.${name}`, message }];
  });
}

function unknownName(name: string): string {
  const closest = closestName(name, [...AUTOSCALER_PARAMETERS.keys()]);
  return closest === undefined
    ? `Unknown parameter. Use one of: ${[...AUTOSCALER_PARAMETERS.keys()].join(', ')}.`
    : `Unknown parameter. Did you mean ${closest}?`;
}

function valueFault(parameter: ParameterKind, value: string): string | undefined {
  switch (parameter.kind) {
    case 'bool':
      return value === 'true' || value === 'false' ? undefined : 'Must be "true" or "false" in lower case.';
    case 'expander':
      return expanderFault(value);
    case 'duration':
      return durationFault(value, parameter.positive);
    default:
      return numberFault(value, parameter);
  }
}

function numberFault(value: string, { kind, min, max }: { kind: 'int' | 'float'; min: number; max: number }) {
  const readable = (kind === 'int' ? INTEGER : DECIMAL).test(value);
  if (!readable) {
    return kind === 'int'
      ? 'Must be a whole number in decimal notation, such as "10".'
      : 'Must be a number in decimal notation, such as "0.5".';
  }
  const number = Number(value);
  return number >= min && number <= max ? undefined : `Must be from ${min} to ${max}.`;
}

function durationFault(value: string, positive: boolean): string | undefined {
  const nanoseconds = parseGoDuration(value);
  if (nanoseconds === undefined) {
    return 'Must be a duration in ns, us, ms, s, m or h, such as "10s", "15m" or "1h30m".';
  }
  if (nanoseconds < 0n) return 'Must not be negative.';
  return positive && nanoseconds === 0n ? 'Must be longer than zero, such as "10s".' : undefined;
}

/** What the rules need to know about the cluster and its region. */
export interface ConfigurationContext extends DdosContext, LoggingContext, Omit<CniContext, 'current'> {
  clusterName: string;
  /** Only needed when the request enables Slurm. */
  slurm?: SlurmContext;
}

/** Returns all problems of a cluster update. Groups that the request leaves alone are not checked again. */
export function validateConfiguration(
  update: ClusterUpdate,
  current: ClusterConfiguration,
  context: ConfigurationContext,
): FieldProblem[] {
  const wanted = mergeConfiguration(current, update, context.clusterName);
  const cni = current.cni ?? DEFAULT_CONFIGURATION.cni ?? undefined;
  return problemsOf(update, current, wanted, { ...context, current: cni });
}

/** Returns all problems of the six groups in a creation body. */
export function validateInitialConfiguration(creation: ClusterUpdate, context: ConfigurationContext): FieldProblem[] {
  const wanted = initialConfiguration(creation, context.clusterName);
  const problems = problemsOf(creation, DEFAULT_CONFIGURATION, wanted, { ...context, current: undefined });
  return creation.add_ons?.slurm?.enabled === false
    ? [
        ...problems,
        {
          field: 'add_ons.slurm.enabled',
          message: 'Must be true at creation. To create a cluster without Slurm, leave add_ons out.',
        },
      ]
    : problems;
}

function problemsOf(
  given: ClusterUpdate,
  current: ClusterConfiguration,
  wanted: ClusterConfiguration,
  context: ConfigurationContext & CniContext,
): FieldProblem[] {
  const slurm = given.add_ons?.slurm;
  const oidc = given.authentication?.oidc ? wanted.authentication?.oidc : undefined;
  return [
    ...(slurm ? slurmProblems(slurm, current.add_ons.slurm, context.slurm) : []),
    ...(oidc ? oidcProblems(oidc) : []),
    ...(given.autoscaler_config ? autoscalerProblems(given.autoscaler_config) : []),
    ...(given.cni && wanted.cni ? cniProblems(given.cni, wanted.cni, context) : []),
    ...(given.ddos_profile && wanted.ddos_profile ? ddosProfileProblems(wanted.ddos_profile, context) : []),
    ...(given.logging && wanted.logging ? loggingProblems(given.logging, wanted.logging, context) : []),
  ];
}
