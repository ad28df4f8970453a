import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { requireUserOf, setPasswordOf } from '../iam/logins/operator-password.ts';
import { OperatorError } from '../lib/operator-error.ts';
import type { Command } from './command.ts';
import { asRecordedOperator } from './operator.ts';

export const userPassword: Command = {
  summary: 'set the password of a user, read from standard input',
  help: `  --email ADDRESS   the user (default: the platform administrator)
  --rename ADDRESS  a new address for the user to log in with; the account's address changes too if it was the same
  Asks for the password on a terminal; otherwise reads it from standard input, without a final line break.
  Ends all logins of the user. Works whether or not Tradewind is running on the same data folder or database.
`,
  options: { email: { type: 'string' }, rename: { type: 'string' } },
  json: true,
  async run(context) {
    const { options } = context;
    const email = options.email === undefined ? undefined : String(options.email);
    const rename = options.rename === undefined ? undefined : String(options.rename);
    return asRecordedOperator(context, 'user password', async (database, { clock }) => {
      const warning = await requireUserOf({ database }, { email, rename });
      if (warning !== undefined) process.stderr.write(`${warning}\n`);
      const password = process.stdin.isTTY
        ? await typedPassword()
        : (await text(process.stdin)).replace(/\r?\n$/, '');
      const user = await setPasswordOf({ database, clock }, { email, rename, password });
      return {
        text: `${user.email} can log in now: POST /iam/auth/jwt/login`,
        data: { email: user.email },
      };
    });
  },
};

/** Reads one line from the terminal without showing it. */
function typedPassword(): Promise<string> {
  process.stderr.write('New password: ');
  const mute = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: mute, terminal: true });
  return new Promise((resolve, reject) => {
    // Ctrl-C and Ctrl-D also cause this event; after a line it comes too late to matter.
    lines.once('close', () => {
      process.stderr.write('\n');
      reject(new OperatorError('No password was entered; nothing was changed'));
    });
    lines.once('line', (line) => {
      resolve(line);
      lines.close();
    });
  });
}
