import { OperatorError } from '../lib/operator-error.ts';
import { type Head, type Verification, verifyAudit } from '../tradewind/audit/verification.ts';
import type { Command } from './command.ts';
import { EXIT_USAGE } from './exit-codes.ts';
import { asOperator } from './operator.ts';

const SEAL = /^\d{1,15}:[\da-f]{64}$/;

export const auditVerify: Command = {
  summary: 'check that nothing in the audit log was changed',
  help: `  --seal NUMBER:HASH   a seal that was written down before: it must still be there
  Compares all records with their seals, and prints the last seal. Keep that somewhere else: whoever can write the
  database could also make all seals anew. Works whether or not Tradewind is running.
`,
  options: { seal: { type: 'string' } },
  json: true,
  async run(context) {
    const { seal } = context.options;
    if (seal !== undefined && !SEAL.test(String(seal))) {
      process.stderr.write('--seal must be a number and a hash, as this command prints them\n');
      return EXIT_USAGE;
    }
    return asOperator(context, async (database) => {
      const known = seal === undefined ? undefined : headIn(String(seal));
      const done = await verifyAudit(database, { known, keptDays: context.config.kept.log });
      const text = reportOf(done);
      if (done.faults.length > 0) throw new OperatorError(text);
      return { text, data: done };
    });
  },
};

function headIn(text: string): Head {
  const [number, hash = ''] = text.split(':');
  return { number: Number(number), hash };
}

function reportOf(done: Verification): string {
  const { seals, records, unsealed, unsealable, removedBefore, head, faults } = done;
  const lines = [`${records} records in ${seals} seals, ${unsealed} records not sealed yet.`];
  if (unsealable > 0) lines.push(`${unsealable} records are from before there were seals.`);
  if (removedBefore) lines.push(`Records from before ${removedBefore.toISOString()} are no longer kept.`);
  lines.push(
    ...(faults.length > 0 ? [...faults, 'The audit log is not what was sealed.'] : ['Nothing was changed.']),
  );
  if (head) lines.push(`Last seal: ${head.number}:${head.hash}`);
  return lines.join('\n');
}
