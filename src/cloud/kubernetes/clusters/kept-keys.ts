import type { Transaction } from '../../../db/database.ts';
import { type FieldProblem, InvalidError } from '../../../lib/errors.ts';
import { keep } from '../../compute/ssh-keys/in-transaction.ts';
import type { Scope } from '../../ground/projects/service.ts';

/**
 * Locks keys that a cluster is about to use against deletion: they may have been deleted since they were checked.
 * @throws InvalidError
 */
export async function keepKeys(
  tx: Transaction,
  scope: Scope,
  { keypair, slurmKeyIds }: { keypair?: string; slurmKeyIds: readonly string[] },
): Promise<void> {
  const ids = slurmKeyIds.map((id) => id.toLowerCase());
  const names = keypair === undefined ? [] : [keypair];
  if (ids.length === 0 && names.length === 0) return;
  const kept = await keep(tx, scope, { names, ids });
  const problems: FieldProblem[] = [
    ...names
      .filter((name) => !kept.some((key) => key.name === name))
      .map((name) => ({ field: 'keypair', message: `SSH key ${name} was deleted. Choose another one.` })),
    ...ids.flatMap((id, index) =>
      kept.some((key) => key.id === id)
        ? []
        : [
            {
              field: `add_ons.slurm.ssh_key_ids.${index}`,
              message: `SSH key ${id} was deleted. Leave it out.`,
            },
          ],
    ),
  ];
  if (problems.length > 0) throw new InvalidError(problems);
}
