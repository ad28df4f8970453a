import { InvalidError, type QuotaExceededError } from '../../../../lib/errors.ts';
import type { Platform } from '../../../../platform.ts';
import type { Scope } from '../../../ground/projects/service.ts';
import { exceededQuotas } from '../../../ground/quotas/in-transaction.ts';
import { usableFlavor } from '../creation/flavor-choice.ts';
import { interfaceProblems, volumeProblems } from '../creation/request-problems.ts';
import { kindProblems, ofItsKind } from '../interfaces/any-interface.ts';
import type { CheckInstanceLimits } from './schema.ts';

/** @throws InvalidError, ForbiddenError for a flavor that has run out */
export async function checkInstanceLimits(
  on: Platform,
  scope: Scope,
  { flavor, names = [], name_templates = [], interfaces = [], volumes = [] }: CheckInstanceLimits,
): Promise<QuotaExceededError['info'][]> {
  const problems = [
    ...interfaces.flatMap((one, index) => kindProblems(one, `interfaces.${index}.`)),
    ...interfaces.flatMap((one, index) => interfaceProblems(ofItsKind(one), `interfaces.${index}`)),
    ...volumeProblems(volumes),
  ];
  if (problems.length > 0) throw new InvalidError(problems);
  if (flavor !== undefined) usableFlavor(on.catalog, scope.regionId, flavor);
  const machines = names.length + name_templates.length || 1;
  const made = interfaces.filter((one) => one.floating_ip?.source === 'new');
  const disks = volumes.filter(({ source }) => source !== 'existing-volume');
  return exceededQuotas(on.database.sql, scope, {
    floating_count: machines * made.length,
    vm_count: machines,
    volume_count: machines * disks.length,
  });
}
