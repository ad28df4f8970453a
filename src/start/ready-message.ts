import type { Config } from '../config.ts';
import type { Platform } from './platform.ts';

/** What a person sees when Tradewind is ready: where it is, the token, and a call that works when pasted. */
export function readyMessage(
  { address, firstToken }: Pick<Platform, 'address' | 'firstToken'>,
  config: Config,
): string {
  if (!address) return 'Tradewind works: this process takes tasks and serves no API.\n';
  const base = `http://${reachableHost(address.host)}:${address.port}`;
  const call = (token: string) => `curl -H 'Authorization: apikey ${token}' ${base}/cloud/v1/projects`;
  const token =
    firstToken === undefined
      ? [`Use ${sourceOfToken(config)}:`, call('<token>')]
      : [
          `API token: ${firstToken}`,
          'It is shown this once and may do everything; "npx tradewind token create" makes others.',
          '',
          call(firstToken),
        ];
  return [`Tradewind is ready at ${base} (reference: ${base}/docs)`, '', ...token, ''].join('\n');
}

function sourceOfToken({ bootstrapToken }: Config): string {
  return bootstrapToken
    ? 'the token in TRADEWIND_BOOTSTRAP_TOKEN'
    : 'the API token that the first start showed, or one that "npx tradewind token create" makes';
}

/** An address that means "everywhere" is no place to call. */
function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
