import { createTokenFor } from '../iam/tokens/operator-token.ts';
import type { Command } from './command.ts';
import { EXIT_USAGE } from './exit-codes.ts';
import { asRecordedOperator } from './operator.ts';

/** A day, or a time with its offset from UTC. */
const MOMENT = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2}))?$/;

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
  if (client !== undefined && !/^[1-9]\d{0,14}$/.test(String(client)))
    return '--client must be the ID of an account';
  if (expires === undefined) return undefined;
  const example = `${new Date().getUTCFullYear() + 1}-01-31T00:00:00Z`;
  const moment = MOMENT.test(String(expires)) ? Date.parse(String(expires)) : Number.NaN;
  if (Number.isNaN(moment)) return `--expires must be a time like ${example}`;
  return moment > Date.now() ? undefined : `--expires must be in the future, such as ${example}`;
}
