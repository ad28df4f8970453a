import { createTokenFor } from '../iam/tokens/operator-token.ts';
import { systemClock } from '../lib/clock.ts';
import type { Command } from './command.ts';
import { asOperator } from './operator.ts';

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
    return asOperator(config, async (database) => {
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
      return token;
    });
  },
};

function faultOf({ client, expires }: Record<string, string | boolean | undefined>): string | undefined {
  if (client !== undefined && !/^[1-9]\d{0,14}$/.test(String(client)))
    return '--client must be the ID of an account';
  if (expires !== undefined && Number.isNaN(Date.parse(String(expires)))) {
    return '--expires must be a time like 2027-01-31T00:00:00Z';
  }
  return undefined;
}
