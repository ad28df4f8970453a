import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setStatusOf } from '../iam/clients/changes.ts';
import { makeConsoleCode } from '../iam/logins/console/service.ts';
import { requireUserOf, setPasswordOf } from '../iam/logins/operator-password.ts';
import { createTokenFor } from '../iam/tokens/operator-token.ts';
import { ConflictError, InvalidError, OperatorError } from '../lib/errors.ts';
import { encryptionKeysOf } from '../secrets/encryption-keys.ts';
import { giveUpLost, lostSecrets } from '../secrets/loss.ts';
import { rotateKeys } from '../secrets/preparation.ts';
import { type Head, type Verification, verifyAudit } from '../tradewind/audit/verification.ts';
import { type Command, EXIT_USAGE } from './command.ts';
import { asOperator, asRecordedOperator } from './operator.ts';
import { consoleAddress, reachableHost } from './serve.ts';

/* Commands on what is in the database: keys, the audit log, accounts, tokens and users. */

export const keysRotate: Command = {
  summary: 'encrypt the secrets in the database with a new key',
  help: `  --new-key   create a new encryption key first, in front of the others in its file
  Creates a new data key, encrypted with the first encryption key, and encrypts every secret with it. Works while
  Tradewind is running. Also encrypts the secrets of a database from an older release.
`,
  options: { 'new-key': { type: 'boolean' } },
  json: true,
  run: (context) =>
    asRecordedOperator(context, 'keys rotate', async (database, { record, clock }) => {
      const { config, options } = context;
      const encryptionKeys = encryptionKeysOf(config);
      const { file } = encryptionKeys;
      if (options['new-key']) {
        if (file === undefined)
          throw new InvalidError({
            'new-key': [
              'The key is in TRADEWIND_ENCRYPTION_KEY: put a new one in front of it there, separated by a comma, and run this command without --new-key.',
            ],
          });
      }
      const swept = await rotateKeys({
        database,
        clock,
        encryptionKeys,
        begun: record,
        ...(options['new-key'] && file !== undefined && { newKeyIn: file }),
      });
      if (!swept) throw new ConflictError('Another process is encrypting the secrets; try again later');
      const done = `${swept.changed} secrets are encrypted with a new data key.`;
      if (swept.heldUpBy !== undefined)
        throw new ConflictError(
          `${done} There may be more in the transaction that ${swept.heldUpBy} has had open for a minute: end it, then run this again`,
        );
      if (!swept.finished)
        throw new ConflictError(
          `${done} Another process still writes secrets without that key: it is an older release, or doesn't have this encryption key (its log says so). Stop it or give it the key, then run this again`,
        );
      const unreadable = [...swept.unreadable].map(([place, count]) => `${place}: ${count}`);
      if (unreadable.length > 0)
        throw new ConflictError(
          `${done} These can't be decrypted with any key in the database and stay as they are: ${unreadable.join(', ')}`,
        );
      const rest =
        options['new-key'] && encryptionKeys.read().length > 1
          ? `\n${file} still has the former keys below its first line: only older backups need them.`
          : '';
      return { text: `${done}${rest}`, data: { changed: swept.changed } };
    }),
};

export const keysGiveUp: Command = {
  summary: 'go on without an encryption key that is lost for good',
  help: `  --yes   do it; otherwise only show what would be removed
  Removes everything that can no longer be decrypted. Stop every process on the database first.
`,
  options: { yes: { type: 'boolean' } },
  json: true,
  run: (context) =>
    asRecordedOperator(context, 'keys give-up', async (database, { record }) => {
      const encryptionKeys = encryptionKeysOf(context.config);
      const { dataKeyIds, counts } = await lostSecrets(database.sql, encryptionKeys);
      const data = { lost: Object.fromEntries(counts), removed: context.options.yes === true };
      if (dataKeyIds.length === 0)
        return { text: 'Nothing is lost: this encryption key decrypts every data key.', data };
      const shown = [...counts].map(([place, count]) => `${place}  ${count}`).join('\n');
      if (!context.options.yes)
        return { text: `${shown}\nNothing was removed. Add --yes to go on without them.`, data };
      await giveUpLost(database, dataKeyIds, record);
      return {
        text: `${shown}\nThese were removed. The next start creates new keys, and everybody has to log in again.`,
        data,
      };
    }),
};

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
  lines.push(...(faults.length > 0 ? [...faults, 'The audit log is not what was sealed.'] : ['Nothing was changed.']));
  if (head) lines.push(`Last seal: ${head.number}:${head.hash}`);
  return lines.join('\n');
}

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
      return asRecordedOperator(context, name, async (database) => {
        await setStatusOf({ database }, Number(client), status);
        return { text: `Client ${client} ${done}`, data: { client_id: Number(client), status } };
      });
    },
  };
}

export const clientPause = statusCommand('client pause', 'paused', 'pause an account: nobody can use it', 'is paused');

export const clientResume = statusCommand('client resume', 'active', 'resume a paused account', 'is active');

/** A day, or a time with its offset from UTC. */
const MOMENT = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2}))?$/;

export const consoleCommand: Command = {
  summary: 'print an address that signs the platform administrator in to the console, once',
  help: `  --url ADDRESS   where the server listens (default: by TRADEWIND_HOST and TRADEWIND_PORT)
  The address is valid for ten minutes. Works whether or not Tradewind is running on the same data folder or database.
`,
  options: { url: { type: 'string' } },
  json: true,
  run: (context) =>
    asRecordedOperator(context, 'console', async (database) => {
      const { host, port } = context.config;
      const code = await makeConsoleCode({ database });
      if (code === undefined) throw new ConflictError('There is no platform administrator yet: start Tradewind once');
      const base = String(context.options.url ?? `http://${reachableHost(host)}:${port}`).replace(/\/+$/, '');
      const address = consoleAddress(base, code);
      return { text: address, data: { address } };
    }),
};

export const tokenCreate: Command = {
  summary: 'create an API token and print it once',
  help: `  --name TEXT       what the token is for (default: "made by the operator")
  --client ID       the account it works in (default: the platform administrator's, with full access)
  --role ROLE       Administrators, Engineers or Users (default: Administrators)
  --reseller        it may also manage all clients of that account's reseller
  --expires TIME    when it stops working, such as 2030-01-31T00:00:00Z or 2030-01-31 (default: never)
  Works whether or not Tradewind is running on the same data folder or database. With TRADEWIND_TOKEN, --url or
  --token-file, it asks a server instead: "tradewind token create --url ADDRESS --help".
`,
  options: {
    name: { type: 'string', default: 'made by the operator' },
    client: { type: 'string' },
    role: { type: 'string', default: 'Administrators' },
    reseller: { type: 'boolean', default: false },
    expires: { type: 'string' },
  },
  json: true,
  asksServer: true,
  async run(context) {
    const { options } = context;
    const wrong = faultOf(options);
    if (wrong !== undefined) {
      process.stderr.write(`${wrong}\n`);
      return EXIT_USAGE;
    }
    return asRecordedOperator(context, 'token create', async (database, { clock }) => {
      const { token } = await createTokenFor(
        { database, clock },
        {
          clientId: options.client === undefined ? undefined : Number(options.client),
          resellerAccess: options.reseller === true,
          role: String(options.role),
          name: String(options.name),
          expires: options.expires === undefined ? null : new Date(String(options.expires)),
        },
      );
      return { text: token, data: { token } };
    });
  },
};

function faultOf({ client, expires }: Record<string, string | boolean | undefined>): string | undefined {
  if (client !== undefined && !/^[1-9]\d{0,14}$/.test(String(client))) return '--client must be the ID of an account';
  if (expires === undefined) return undefined;
  const example = `${new Date().getUTCFullYear() + 1}-01-31T00:00:00Z`;
  const moment = MOMENT.test(String(expires)) ? Date.parse(String(expires)) : Number.NaN;
  if (Number.isNaN(moment)) return `--expires must be a time like ${example}`;
  return moment > Date.now() ? undefined : `--expires must be in the future, such as ${example}`;
}

export const userPassword: Command = {
  summary: 'set the password of a user, read from standard input',
  help: `  --email ADDRESS   the user (default: the platform administrator)
  --rename ADDRESS  a new address for the user to log in with; the account's address changes too if it was the same
  --remove-second-factors  for a user who lost them: the password alone logs in again
  Asks for the password on a terminal; otherwise reads it from standard input, without a final line break.
  Ends all logins of the user. Works whether or not Tradewind is running on the same data folder or database.
`,
  options: {
    email: { type: 'string' },
    rename: { type: 'string' },
    'remove-second-factors': { type: 'boolean' },
  },
  json: true,
  async run(context) {
    const { options } = context;
    const removeSecondFactors = options['remove-second-factors'] === true;
    const email = options.email === undefined ? undefined : String(options.email);
    const rename = options.rename === undefined ? undefined : String(options.rename);
    return asRecordedOperator(context, 'user password', async (database, { clock }) => {
      const warning = await requireUserOf({ database }, { email, rename });
      if (warning !== undefined) process.stderr.write(`${warning}\n`);
      const password = process.stdin.isTTY ? await typedPassword() : (await text(process.stdin)).replace(/\r?\n$/, '');
      const user = await setPasswordOf({ database, clock }, { email, rename, password, removeSecondFactors });
      const more = user.second_factor
        ? ', with a second factor (--remove-second-factors removes them)'
        : ': POST /iam/auth/jwt/login';
      return {
        text: `${user.email} can log in now${more}`,
        data: user,
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
