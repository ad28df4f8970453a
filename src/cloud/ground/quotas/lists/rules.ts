import type { FieldProblem } from '../../../../lib/errors.ts';
import type { Catalog } from '../../catalog/service.ts';
import { GLOBAL_NAMES } from '../names.ts';
import type { NewQuotaList } from './schema.ts';
import type { ListedLimits } from './tables.ts';

/** Returns what is wrong with the limits of a new list. */
export function limitProblems(
  { limits }: NewQuotaList,
  { regions }: Pick<Catalog, 'regions'>,
): FieldProblem[] {
  const seen = new Set<string>();
  return limits.flatMap(({ quota, region_id }, index): FieldProblem[] => {
    const problem = (field: string, message: string) => ({ field: `limits.${index}.${field}`, message });
    const key = `${region_id} ${quota}`;
    if (seen.has(key)) return [problem('quota', 'Has a limit already.')];
    seen.add(key);
    if (region_id === undefined) return [];
    if (GLOBAL_NAMES.some((name) => name === quota)) return [problem('region_id', `${quota} has no region.`)];
    return regions.has(region_id) ? [] : [problem('region_id', `Region ${region_id} not found.`)];
  });
}

/** Returns the limits as the database looks them up. */
export function limitsByKey(limits: NewQuotaList['limits']): ListedLimits {
  return Object.fromEntries(
    limits.map(({ quota, region_id, limit }) => [region_id ? `${region_id} ${quota}` : quota, limit]),
  );
}

/** Returns them as the API has them. */
export function limitsOf(listed: ListedLimits): NewQuotaList['limits'] {
  return Object.entries(listed).map(([key, limit]) => {
    const [quota = '', region] = key.split(' ').reverse();
    const named = quota as NewQuotaList['limits'][number]['quota'];
    return { quota: named, ...(region && { region_id: Number(region) }), limit };
  });
}
