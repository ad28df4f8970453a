import net from 'node:net';
import path from 'node:path';
import ipaddr from 'ipaddr.js';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { parseTokenText } from './iam/identity/token-text.ts';
import { SettingError } from './lib/operator-error.ts';
import { packageRoot } from './lib/package-root.ts';

const Environment = Type.Object({
  TRADEWIND_HOST: Type.String({ minLength: 1, default: '127.0.0.1', rule: 'a host name or an IP address' }),
  TRADEWIND_PORT: Type.String({
    pattern: '^\\d{1,5}$',
    default: '8080',
    rule: 'a whole number from 0 to 65535 (0 takes a free port)',
  }),
  TRADEWIND_DATA_DIR: Type.String({
    minLength: 1,
    default: './data',
    rule: 'a folder that Tradewind may write to',
  }),
  TRADEWIND_BOOTSTRAP_TOKEN: Type.Optional(
    Type.String({ rule: '<id>_<secret> or <id>$<secret>, the id a whole number from 1 to 2147483647' }),
  ),
  DATABASE_URL: Type.Optional(
    Type.String({ rule: 'a URL like postgresql://user:password@host:5432/database' }),
  ),
  TRADEWIND_CATALOG_DIR: Type.Optional(
    Type.String({ minLength: 1, rule: 'a folder with the catalogue files' }),
  ),
  TRADEWIND_RATE_LIMIT: Type.String({
    pattern: '^\\d{1,9}$',
    default: '10000',
    rule: 'how many requests a token may make in 10 seconds, in each process; 0 for any number',
  }),
  TRADEWIND_TRUST_PROXY: Type.Optional(
    Type.String({
      rule: 'the addresses or networks (CIDR) of your proxies, with commas between them: they say in X-Forwarded-For where a request comes from',
    }),
  ),
  TRADEWIND_SIMULATION_SPEED: Type.String({
    pattern: '^\\d{1,6}(\\.\\d{1,6})?$',
    default: '1',
    rule: 'a factor from 0.01 to 100000: 1 is the usual speed, 10 ten times as fast',
  }),
  TRADEWIND_LOG_LEVEL: Type.Union(
    ['debug', 'info', 'warn', 'error', 'silent'].map((level) => Type.Literal(level)),
    { default: 'info', rule: 'one of debug, info, warn, error, silent' },
  ),
  TRADEWIND_LOG_FORMAT: Type.Union([Type.Literal('text'), Type.Literal('json')], {
    default: 'text',
    rule: 'text or json',
  }),
});
type Environment = Static<typeof Environment>;

/** Everything a process is told from outside, parsed once and passed down. */
export interface Config {
  readonly host: string;
  readonly port: number;
  /** Absolute. */
  readonly dataDir: string;
  readonly bootstrapToken: { readonly id: number; readonly secret: string } | undefined;
  /** Undefined: the embedded PostgreSQL in `dataDir`. */
  readonly databaseUrl: string | undefined;
  readonly catalogDir: string;
  /** Requests of one token in 10 seconds; 0 for any number. */
  readonly rateLimit: number;
  /** Addresses and networks that are believed where a request comes from. */
  readonly trustedProxies: readonly string[];
  readonly simulationSpeed: number;
  readonly logLevel: string;
  readonly logFormat: 'text' | 'json';
}

/**
 * Reads the settings of the environment. An empty text counts as not set.
 * @throws SettingError naming the setting
 */
export function loadConfig(environment: Record<string, string | undefined>): Config {
  const given = Object.fromEntries(
    Object.keys(Environment.properties).flatMap((name) =>
      environment[name] ? [[name, environment[name]]] : [],
    ),
  );
  const settings = Value.Default(Environment, given);
  if (!Value.Check(Environment, settings)) {
    const name = Value.Errors(Environment, settings)[0]?.instancePath.slice(1) ?? '';
    throw refused(name as keyof Environment);
  }
  return Object.freeze({
    host: settings.TRADEWIND_HOST,
    port: numberOf(settings, 'TRADEWIND_PORT', 0, 65_535),
    dataDir: path.resolve(settings.TRADEWIND_DATA_DIR),
    bootstrapToken: bootstrapTokenOf(settings),
    databaseUrl: databaseUrlOf(settings),
    catalogDir: path.resolve(settings.TRADEWIND_CATALOG_DIR ?? path.join(packageRoot, 'catalog')),
    rateLimit: Number(settings.TRADEWIND_RATE_LIMIT),
    trustedProxies: trustedProxiesOf(settings),
    simulationSpeed: numberOf(settings, 'TRADEWIND_SIMULATION_SPEED', 0.01, 100_000),
    logLevel: settings.TRADEWIND_LOG_LEVEL,
    logFormat: settings.TRADEWIND_LOG_FORMAT,
  });
}

/** Every setting, a line each, with its default. */
export function settingsHelp(): string {
  return Object.entries(Environment.properties as Record<string, { rule?: string; default?: string }>)
    .map(
      ([name, { rule, default: value }]) =>
        `  ${name.padEnd(28)}${rule}${value === undefined ? '' : ` (${value})`}`,
    )
    .join('\n');
}

/** Names that look like settings and are none: most likely a typing error. */
export function unknownSettings(environment: Record<string, string | undefined>): string[] {
  return Object.keys(environment).filter(
    (name) => name.startsWith('TRADEWIND_') && !(name in Environment.properties),
  );
}

function refused(name: keyof Environment): SettingError {
  // The value stays out of the message: a token or a password may be in it.
  return new SettingError(
    `${name} is not usable: it must be ${(Environment.properties[name] as { rule?: string }).rule}`,
  );
}

function numberOf(
  settings: Environment,
  name: 'TRADEWIND_PORT' | 'TRADEWIND_SIMULATION_SPEED',
  min: number,
  max: number,
): number {
  const value = Number(settings[name]);
  if (value < min || value > max) throw refused(name);
  return value;
}

function trustedProxiesOf({ TRADEWIND_TRUST_PROXY: text = '' }: Environment): string[] {
  const given = text.split(',').map((each) => each.trim());
  const proxies = given.filter((each) => each !== '');
  const usable = (each: string) =>
    net.isIP(each) !== 0 || (net.isIP(each.split('/')[0] ?? '') !== 0 && ipaddr.isValidCIDR(each));
  if (!proxies.every(usable)) throw refused('TRADEWIND_TRUST_PROXY');
  return proxies;
}

function bootstrapTokenOf(settings: Environment): Config['bootstrapToken'] {
  if (settings.TRADEWIND_BOOTSTRAP_TOKEN === undefined) return undefined;
  const token = parseTokenText(settings.TRADEWIND_BOOTSTRAP_TOKEN);
  if (!token || token.id < 1 || token.id > 2_147_483_647) throw refused('TRADEWIND_BOOTSTRAP_TOKEN');
  return token;
}

function databaseUrlOf(settings: Environment): string | undefined {
  const text = settings.DATABASE_URL;
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^postgres(ql)?:$/.test(url.protocol) || url.pathname.length < 2)
    throw refused('DATABASE_URL');
  return text;
}
