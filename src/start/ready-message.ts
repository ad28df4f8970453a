import type { Config } from '../config.ts';
import type { Platform } from './platform.ts';

/** What a person sees when Tradewind is ready: where it is, the token, and a call that works when pasted. */
export function readyMessage(
  { address, firstStart }: Pick<Platform, 'address' | 'firstStart'>,
  config: Config,
): string {
  if (!address) return 'Tradewind works: this process takes tasks and serves no API.\n';
  const base = `http://${reachableHost(address.host)}:${address.port}`;
  const lines = [`Tradewind is ready at ${base} (reference: ${base}/docs)`];
  if (firstStart.token !== undefined) {
    lines.push(
      '',
      `API token: ${firstStart.token}`,
      'It is shown this once and may do everything; "npx tradewind token create" makes others.',
      '',
      `curl -H 'Authorization: apikey ${firstStart.token}' ${base}/cloud/v1/projects`,
    );
  } else {
    const source = config.bootstrapToken
      ? 'the token in TRADEWIND_BOOTSTRAP_TOKEN'
      : 'the API token of the first start';
    lines.push('', `Use ${source}:`, `curl -H 'Authorization: apikey <token>' ${base}/cloud/v1/projects`);
  }
  return `${lines.join('\n')}\n`;
}

/** An address that means "everywhere" is no place to call. */
function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
