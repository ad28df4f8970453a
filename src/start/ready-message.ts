import fs from 'node:fs';
import type { Config } from '../config.ts';
import { firstTokenFile } from './first-token.ts';
import type { RunningPlatform } from './platform.ts';

const MAKES_OTHERS = '"npx tradewind token create" creates more';

/** Returns what a person sees when Tradewind is ready: its address, the token, and a call to paste. */
export function readyMessage(
  { address, firstToken }: Pick<RunningPlatform, 'address' | 'firstToken'>,
  config: Config,
): string {
  const { host, workerPort } = config;
  if (!address) {
    const tells = workerPort && `; http://${reachableHost(host)}:${workerPort}/readyz shows its state`;
    return `Tradewind is ready: this process takes tasks and serves no API${tells ?? ''}.\n`;
  }
  const base = `http://${reachableHost(address.host)}:${address.port}`;
  const call = (token: string) => `curl -H ${token} ${base}/cloud/v1/projects`;
  const token = aboutToken(firstToken, config, call);
  return [`Tradewind is ready at ${base} (reference: ${base}/docs)`, '', ...token, ''].join('\n');
}

function aboutToken(
  first: RunningPlatform['firstToken'],
  config: Config,
  call: (token: string) => string,
): string[] {
  const withText = (token: string) => call(`'Authorization: apikey ${token}'`);
  const inFile = (file: string) => call(`"Authorization: apikey $(cat '${file.replaceAll("'", `'\\''`)}')"`);
  if (first && 'text' in first) {
    return [
      `API token: ${first.text}`,
      `It has full access and is not shown again; ${MAKES_OTHERS}.`,
      '',
      withText(first.text),
    ];
  }
  if (first && 'problem' in first) {
    return [
      `There is no API token yet: there is no terminal to show it on, and ${first.problem}.`,
      'Create one with "npx tradewind token create", or set TRADEWIND_BOOTSTRAP_TOKEN.',
      '',
      withText('<token>'),
    ];
  }
  if (config.bootstrapToken) return ['Use the token in TRADEWIND_BOOTSTRAP_TOKEN:', withText('<token>')];
  if (first) {
    return [
      `The API token is in ${first.file}, which only this user can read.`,
      `It has full access; ${MAKES_OTHERS}.`,
      '',
      inFile(first.file),
    ];
  }
  const file = firstTokenFile(config);
  if (fs.existsSync(file)) return [`Use the API token in ${file}:`, inFile(file)];
  return [
    'Use the API token shown at the first start, or create one with "npx tradewind token create":',
    withText('<token>'),
  ];
}

/** An address that means "all interfaces" can't be called. */
function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
