import type { Config } from '../config.ts';
import { OperatorError } from '../lib/operator-error.ts';
import { type Head, type Verification, verifyAudit } from '../tradewind/audit/verification.ts';
import type { Command } from './command.ts';
import { EXIT_USAGE } from './exit-codes.ts';
import { asOperator } from './operator.ts';

const SEAL = /^\d{1,15}:[\da-f]{64}$/;
const DAY_MS = 86_400_000;

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
      const done = await verifyAudit(database, seal === undefined ? undefined : headIn(String(seal)));
      const text = reportOf(done, context.config);
      if (done.faults.length > 0) throw new OperatorError(text);
      return { text, data: done };
    });
  },
};

function headIn(text: string): Head {
  const [number, hash = ''] = text.split(':');
  return { number: Number(number), hash };
}

function reportOf(done: Verification, { kept }: Config): string {
  const { seals, records, unsealed, removedBefore, head, faults } = done;
  const lines = [`${records} records in ${seals} seals, ${unsealed} records not sealed yet.`];
  if (removedBefore) {
    lines.push(`Records from before ${removedBefore.toISOString()} are no longer kept.`);
    const kepts = kept.log === undefined ? 0 : Date.now() - kept.log * DAY_MS;
    if (removedBefore.getTime() > kepts + DAY_MS)
      lines.push('With TRADEWIND_LOG_KEPT_DAYS as it is now, they would still be there.');
  }
  lines.push(
    ...(faults.length > 0 ? [...faults, 'The audit log is not what was sealed.'] : ['Nothing was changed.']),
  );
  if (head) lines.push(`Last seal: ${head.number}:${head.hash}`);
  return lines.join('\n');
}
