import type { Transaction } from '../../../../db/database.ts';
import { type FieldProblem, InvalidError } from '../../../../lib/errors.ts';
import type { Scope } from '../../../ground/projects/service.ts';
import * as groups from '../../../network/ports/groups/in-transaction.ts';
import type { CreateInstance } from '../schema.ts';

/**
 * Returns the security groups of each interface, in order: its own, else the request's, else the project's default.
 * @throws InvalidError for a group that the project doesn't have
 */
export async function interfaceGroups(
  tx: Transaction,
  scope: Scope,
  request: Pick<CreateInstance, 'interfaces' | 'security_groups'>,
): Promise<string[][]> {
  const named = [
    { field: 'security_groups', list: request.security_groups ?? [] },
    ...request.interfaces.map((one, index) => ({
      field: `interfaces.${index}.security_groups`,
      list: one.security_groups ?? [],
    })),
  ];
  const ids = new Set(named.flatMap(({ list }) => list.map(({ id }) => id.toLowerCase())));
  const known = await groups.existingGroups(tx, scope, [...ids]);
  const problems = named.flatMap(({ field, list }) =>
    list.flatMap(({ id }, index): FieldProblem[] =>
      known.has(id.toLowerCase())
        ? []
        : [{ field: `${field}.${index}.id`, message: `No security group ${id} in this project and region.` }],
    ),
  );
  if (problems.length > 0) throw new InvalidError(problems);
  const wanted = request.interfaces.map((one) => one.security_groups ?? request.security_groups ?? undefined);
  const fallback = wanted.includes(undefined) ? await groups.defaultGroup(tx, scope) : undefined;
  return wanted.map((list) => {
    if (list) return [...new Set(list.map(({ id }) => id.toLowerCase()))];
    return fallback === undefined ? [] : [fallback];
  });
}
