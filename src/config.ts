import os from 'node:os';
import path from 'node:path';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import type { EngineSettings } from './engines/settings.ts';
import { parseTokenText } from './iam/identity/token-text.ts';
import { SettingError } from './lib/operator-error.ts';
import { packageRoot } from './lib/package-root.ts';
import { parseAllowedHosts } from './streaming/ai-tasks/fetching/allowed-hosts.ts';

const whole = (rule: string, value?: string) =>
  Type.String({ pattern: '^\\d{1,6}$', rule, ...(value !== undefined && { default: value }) });

const program = (name: string) =>
  Type.String({
    minLength: 1,
    pattern: '^(/.+|[^/]+)$',
    default: name,
    rule: "a program's name, looked for in PATH, or its absolute path",
  });

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
  TRADEWIND_SIMULATION_SPEED: Type.String({
    pattern: '^\\d{1,6}(\\.\\d{1,6})?$',
    default: '1',
    rule: 'a factor from 0.01 to 100000: 1 is the usual speed, 10 ten times as fast',
  }),
  TRADEWIND_TMP: Type.Optional(
    Type.String({
      minLength: 1,
      rule: 'a folder for files of AI tasks in work; by default in the data folder',
    }),
  ),
  TRADEWIND_AI_CONCURRENCY: Type.Optional(
    whole(
      'a whole number from 0 to 64: AI tasks at a time in this process, by default one for two processors',
    ),
  ),
  TRADEWIND_AI_CLIENT_CONCURRENCY: whole(
    'a whole number from 1 to 64: AI tasks of one account at a time',
    '1',
  ),
  TRADEWIND_MODEL_DIR: Type.Optional(
    Type.String({
      minLength: 1,
      rule: 'a folder with models of your own for AI tasks, and their manifest.json',
    }),
  ),
  TRADEWIND_FFMPEG: program('ffmpeg'),
  TRADEWIND_FFPROBE: program('ffprobe'),
  TRADEWIND_POCKETSPHINX: program('pocketsphinx_batch'),
  TRADEWIND_POCKETSPHINX_MODEL: Type.String({
    minLength: 1,
    default: '/usr/share/pocketsphinx/model/en-us',
    rule: "the folder of pocketsphinx's English model",
  }),
  TRADEWIND_SPEECH_CONFIDENCE: Type.String({
    pattern: '^[01](\\.\\d{1,6})?$',
    default: '0.45',
    rule: 'a number from 0 to 1: speech that pocketsphinx is less sure of on average counts as not English',
  }),
  TRADEWIND_MEDIA_ALLOW_HOSTS: Type.Optional(
    Type.String({
      rule: 'a list such as media.internal,10.0.0.7:8080: hosts of your own network that AI tasks may fetch from',
    }),
  ),
  TRADEWIND_MEDIA_MAX_MB: whole('a whole number from 1 to 100000: the largest file of an AI task', '512'),
  TRADEWIND_MEDIA_IDLE_SECONDS: whole(
    'a whole number from 1 to 3600: how long its server may send nothing',
    '30',
  ),
  TRADEWIND_MEDIA_TOTAL_SECONDS: whole(
    'a whole number from 1 to 86400: how long fetching it may take',
    '600',
  ),
  TRADEWIND_METRICS: Type.Union([Type.Literal('local'), Type.Literal('open')], {
    default: 'local',
    rule: 'local or open: whether /metrics answers programs on this machine alone, or everybody',
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
  readonly simulationSpeed: number;
  /** Absolute. */
  readonly temporaryDir: string;
  /** Folders of programs, as in PATH. */
  readonly searchPath: string;
  readonly ai: {
    /** Tasks at a time, in this process and of one account. */
    readonly concurrency: number;
    readonly perClient: number;
    /** Absolute. */
    readonly modelDir: string | undefined;
    /** Programs, and how sure the one for speech has to be. */
    readonly engines: Omit<EngineSettings, 'searchPath' | 'modelDir'>;
    /** A list of hosts; see parseAllowedHosts. */
    readonly allowedHosts: string;
    readonly media: { readonly maxBytes: number; readonly idleMs: number; readonly totalMs: number };
  };
  /** Whether other machines may read /metrics. */
  readonly openMetrics: boolean;
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
    simulationSpeed: numberOf(settings, 'TRADEWIND_SIMULATION_SPEED', 0.01, 100_000),
    temporaryDir: path.resolve(settings.TRADEWIND_TMP ?? path.join(settings.TRADEWIND_DATA_DIR, 'tmp')),
    searchPath: environment.PATH || '/usr/local/bin:/usr/bin:/bin',
    ai: aiOf(settings),
    openMetrics: settings.TRADEWIND_METRICS === 'open',
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

function numberOf(settings: Environment, name: keyof Environment, min: number, max: number): number {
  const value = Number(settings[name]);
  if (value < min || value > max) throw refused(name);
  return value;
}

function aiOf(settings: Environment): Config['ai'] {
  const allowedHosts = settings.TRADEWIND_MEDIA_ALLOW_HOSTS ?? '';
  if (!parseAllowedHosts(allowedHosts)) throw refused('TRADEWIND_MEDIA_ALLOW_HOSTS');
  const { TRADEWIND_AI_CONCURRENCY: concurrency, TRADEWIND_MODEL_DIR: modelDir } = settings;
  return {
    concurrency:
      concurrency === undefined
        ? Math.max(1, Math.floor(os.availableParallelism() / 2))
        : numberOf(settings, 'TRADEWIND_AI_CONCURRENCY', 0, 64),
    perClient: numberOf(settings, 'TRADEWIND_AI_CLIENT_CONCURRENCY', 1, 64),
    modelDir: modelDir === undefined ? undefined : path.resolve(modelDir),
    engines: {
      ffmpeg: settings.TRADEWIND_FFMPEG,
      ffprobe: settings.TRADEWIND_FFPROBE,
      pocketsphinx: settings.TRADEWIND_POCKETSPHINX,
      pocketsphinxModel: path.resolve(settings.TRADEWIND_POCKETSPHINX_MODEL),
      minWordConfidence: numberOf(settings, 'TRADEWIND_SPEECH_CONFIDENCE', 0, 1),
    },
    allowedHosts,
    media: {
      maxBytes: numberOf(settings, 'TRADEWIND_MEDIA_MAX_MB', 1, 100_000) * 1_000_000,
      idleMs: numberOf(settings, 'TRADEWIND_MEDIA_IDLE_SECONDS', 1, 3_600) * 1_000,
      totalMs: numberOf(settings, 'TRADEWIND_MEDIA_TOTAL_SECONDS', 1, 86_400) * 1_000,
    },
  };
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
