import type { FieldProblem } from '../../../../lib/errors.ts';
import type { Platform } from '../../../../platform.ts';
import type { Scope } from '../../../ground/projects/service.ts';
import { knownSecurityGroups } from '../../../network/security-groups/service.ts';

/** Returns the problems of pools' security groups. Each `path` in the body is empty or ends with a dot. */
export async function poolGroupProblems(
  on: Platform,
  scope: Scope,
  pools: readonly { path: string; ids: readonly string[] }[],
): Promise<FieldProblem[]> {
  const asked = [...new Set(pools.flatMap(({ ids }) => ids))];
  if (asked.length === 0) return [];
  const known = await knownSecurityGroups(on, scope, asked);
  return pools.flatMap(({ path, ids }) =>
    ids.flatMap((id, position): FieldProblem[] => {
      const field = `${path}security_group_ids.${position}`;
      const earlier = ids.findIndex((other) => other.toLowerCase() === id.toLowerCase());
      if (earlier < position) return [{ field, message: `Contains the group ${id} twice. List it once.` }];
      return known.has(id.toLowerCase())
        ? []
        : [
            {
              field,
              message: `Unknown security group ${id}. Must be a security group in this project and region.`,
            },
          ];
    }),
  );
}
