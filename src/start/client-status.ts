import { setStatusOf } from '../iam/clients/operator-status.ts';
import type { Command } from './command.ts';
import { EXIT_USAGE } from './exit-codes.ts';
import { asRecordedOperator } from './operator.ts';

function statusCommand(name: string, status: 'active' | 'paused', summary: string, done: string): Command {
  return {
    summary,
    help: `  --client ID       the account
  Takes effect at once. Works whether or not Tradewind is running on the same data folder or database.
`,
    options: { client: { type: 'string' } },
    json: true,
    async run(context) {
      const client = String(context.options.client ?? '');
      if (!/^[1-9]\d{0,14}$/.test(client)) {
        process.stderr.write('--client must be the ID of an account\n');
        return EXIT_USAGE;
      }
      return asRecordedOperator(context, name, async (database, { clock }) => {
        await setStatusOf({ database, clock }, Number(client), status);
        return { text: `Client ${client} ${done}`, data: { client_id: Number(client), status } };
      });
    },
  };
}

export const clientPause = statusCommand(
  'client pause',
  'paused',
  'pause an account: nobody can use it',
  'is paused',
);

export const clientResume = statusCommand('client resume', 'active', 'resume a paused account', 'is active');
