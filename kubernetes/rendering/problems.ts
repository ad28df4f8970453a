import type { ClusterSpec } from '../../src/backends/contract/specs.ts';
import type { FieldProblem } from '../../src/lib/errors.ts';
import type { Platform } from '../platform.ts';
import { usesExpander } from './autoscaler.ts';
import { isWholeCutoff } from './autoscaler-flags.ts';
import { groupsOf } from './groups.ts';
import { poolProblems } from './pool-settings.ts';

/**
 * Returns what of the spec would keep a program from starting, or can't be had here. The rest is checked by the API
 * itself: names and values of the autoscaler's parameters, settings of Cilium that exclude each other or can't change.
 */
export function renderingProblems(spec: ClusterSpec, platform: Platform): FieldProblem[] {
  return [
    ...autoscalerProblems(spec, platform),
    ...loggingProblems(spec, platform),
    ...slurmProblems(spec, platform),
    ...poolProblems(spec.pools),
  ];
}

function autoscalerProblems(spec: ClusterSpec, platform: Platform): FieldProblem[] {
  const overrides = groupsOf(spec).autoscaler_config ?? {};
  const field = 'autoscaler_config.expander';
  const problems: FieldProblem[] = [];
  if (!isWholeCutoff(overrides)) {
    problems.push({
      field: 'autoscaler_config.expendable-pods-priority-cutoff',
      message: 'Must be a whole number here: the autoscaler does not start with a fraction.',
    });
  }
  if (usesExpander('price', overrides)) {
    problems.push({ field, message: 'The autoscaler knows no prices here. Leave the expander price out.' });
  }
  if (usesExpander('grpc', overrides) && platform.grpc_expander_url === undefined) {
    problems.push({ field, message: 'There is no expander to call here. Leave the expander grpc out.' });
  }
  return problems;
}

function loggingProblems(spec: ClusterSpec, { log_forwarding: service }: Platform): FieldProblem[] {
  const { logging } = groupsOf(spec);
  const region = logging?.destination_region_id;
  if (!logging?.enabled || (region !== undefined && service?.brokers[String(region)])) return [];
  const message = `Clusters of this region can't send logs to region ${region}. Choose another one.`;
  return [{ field: 'logging.destination_region_id', message }];
}

function slurmProblems(spec: ClusterSpec, { slurm }: Platform): FieldProblem[] {
  if (!groupsOf(spec).add_ons?.slurm?.enabled || slurm) return [];
  return [{ field: 'add_ons.slurm', message: 'Is not available here: clusters have no access to file shares.' }];
}
