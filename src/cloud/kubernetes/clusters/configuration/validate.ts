import type { ClusterConfiguration } from '../../../../db/json-columns.ts';
import { type DdosContext, ddosProfileProblems } from '../../../../lib/ddos-profile.ts';
import type { FieldProblem } from '../../../../lib/errors.ts';
import { type LoggingContext, loggingProblems } from '../../../../lib/log-forwarding.ts';
import { autoscalerProblems } from './autoscaler.ts';
import { type CniContext, cniProblems } from './cni.ts';
import { DEFAULT_CONFIGURATION } from './configuration.ts';
import { initialConfiguration, mergeConfiguration } from './merge.ts';
import { oidcProblems } from './oidc.ts';
import type { ClusterUpdate } from './schema.ts';
import { type SlurmContext, slurmProblems } from './slurm.ts';

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
export function validateInitialConfiguration(
  creation: ClusterUpdate,
  context: ConfigurationContext,
): FieldProblem[] {
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
