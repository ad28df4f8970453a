import { openDatabase } from '../db/database.ts';
import { createTokenFor } from '../iam/tokens/operator-token.ts';
import { systemClock } from '../lib/clock.ts';
import { DomainError } from '../lib/errors.ts';
import { createLog } from '../log.ts';
import type { Command } from './command.ts';
import { openStorage } from './storage.ts';

export const tokenCreate: Command = {
  summary: 'make an API token and print it once',
  help: `  --name TEXT       what the token is for (default: "made by the operator")
  --client ID       the account it works in (default: the platform administrator's, who may do everything)
  --role ROLE       Administrators, Engineers or Users (default: Administrators)
  --reseller        it may also manage all clients of that account's reseller
  --expires TIME    when it stops working, e.g. 2027-01-31T00:00:00Z (default: never)
  Works while Tradewind runs on the same data folder or database as well as when it doesn't.
`,
  options: {
    name: { type: 'string', default: 'made by the operator' },
    client: { type: 'string' },
    role: { type: 'string', default: 'Administrators' },
    reseller: { type: 'boolean', default: false },
    expires: { type: 'string' },
  },
  async run({ config, options }) {
    const wrong = faultOf(options);
    if (wrong !== undefined) {
      process.stderr.write(`${wrong}\n`);
      return 64;
    }
    const storage = await openStorage(config, createLog(config), { share: true, mustExist: true });
    const database = openDatabase(storage.connection, 2);
    try {
      const { token } = await createTokenFor(
        { database, clock: systemClock },
        {
          clientId: options.client === undefined ? undefined : Number(options.client),
          resellerAccess: options.reseller === true,
          role: String(options.role),
          name: String(options.name),
          expires: options.expires === undefined ? null : new Date(String(options.expires)),
        },
      );
      process.stdout.write(`${token}\n`);
      return 0;
    } catch (error) {
      if (isMissingTable(error)) {
        process.stderr.write('There is no account yet: start Tradewind once on this database\n');
        return 70;
      }
      if (!(error instanceof DomainError)) throw error;
      process.stderr.write(`${error.message}\n`);
      return 64;
    } finally {
      await database.close();
      await storage.stop();
    }
  },
};

/** The schema comes with the first start. */
function isMissingTable(error: unknown): boolean {
  return (error as { code?: unknown }).code === '42P01';
}

function faultOf({ client, expires }: Record<string, string | boolean | undefined>): string | undefined {
  if (client !== undefined && !/^[1-9]\d{0,14}$/.test(String(client)))
    return '--client must be the ID of an account';
  if (expires !== undefined && Number.isNaN(Date.parse(String(expires)))) {
    return '--expires must be a time like 2027-01-31T00:00:00Z';
  }
  return undefined;
}
