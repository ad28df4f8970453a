import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import ipaddr from 'ipaddr.js';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import type { EngineSettings } from './engines/settings.ts';
import { parseTokenText } from './iam/identity/token-text.ts';
import { parseAllowedHosts } from './lib/allowed-hosts.ts';
import { closestName } from './lib/closest-name.ts';
import { columns } from './lib/columns.ts';
import { SettingError } from './lib/operator-error.ts';
import { packageRoot } from './lib/package-root.ts';

const whole = (rule: string, value?: string) =>
  Type.String({ pattern: '^\\d{1,6}$', rule, ...(value !== undefined && { default: value }) });

const program = (name: string) =>
  Type.String({
    minLength: 1,
    pattern: '^(/.+|[^/]+)$',
    default: name,
    rule: "a program's name, looked for in PATH, or its absolute path",
  });

/** Nobody guesses so many; "openssl rand -hex 32" makes more. */
const SHORTEST_SECRET = 16;

const Environment = Type.Object({
  TRADEWIND_HOST: Type.String({ minLength: 1, default: '127.0.0.1', rule: 'a host name or an IP address' }),
  TRADEWIND_PORT: Type.String({
    pattern: '^\\d{1,5}$',
    default: '8080',
    rule: 'a whole number from 0 to 65535 (0 takes a free port)',
  }),
  TRADEWIND_WORKER_PORT: Type.Optional(
    Type.String({
      pattern: '^\\d{1,5}$',
      rule: 'a whole number from 1 to 65535: where --role worker answers /healthz, /readyz and /metrics; nowhere without it',
    }),
  ),
  TRADEWIND_DATA_DIR: Type.String({
    minLength: 1,
    default: './data',
    rule: 'a folder that Tradewind may write to',
  }),
  TRADEWIND_BOOTSTRAP_TOKEN: Type.Optional(
    Type.String({
      rule: `<id>_<secret> or <id>$<secret>, the id a whole number from 1 to 2147483647 and the secret at least ${SHORTEST_SECRET} characters`,
    }),
  ),
  DATABASE_URL: Type.Optional(
    Type.String({ rule: 'a URL like postgresql://user:password@host:5432/database' }),
  ),
  TRADEWIND_CATALOG_DIR: Type.Optional(
    Type.String({ minLength: 1, rule: 'a folder with the catalogue files' }),
  ),
  TRADEWIND_DATABASE_WAIT: whole(
    'a whole number of seconds from 0 to 999999 that a start waits for a database which does not answer',
    '60',
  ),
  TRADEWIND_RATE_LIMIT: Type.String({
    pattern: '^\\d{1,9}$',
    default: '10000',
    rule: 'how many requests a token, or an address without a valid one, may make in 10 seconds, in each process; 0 for any number',
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
  TRADEWIND_COMPARE_SECONDS: Type.String({
    pattern: '^\\d{1,5}$',
    default: '600',
    rule: 'a whole number from 1 to 86400: how often what infrastructure has is held against what is wanted',
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
  TRADEWIND_MEDIA_MIN_RATE_KB: whole(
    'a whole number from 0 to 100000: the least that its server must send, measured over the seconds of TRADEWIND_MEDIA_IDLE_SECONDS',
    '32',
  ),
  TRADEWIND_MEDIA_TOTAL_SECONDS: whole(
    'a whole number from 1 to 86400: how long fetching it may take',
    '600',
  ),
  TRADEWIND_WEBHOOK_ALLOW_HOSTS: Type.Optional(
    Type.String({
      rule: 'a list such as audit.internal,10.0.0.7:8080: hosts of your own network that user actions may be sent to',
    }),
  ),
  TRADEWIND_AI_TIME_FACTOR: whole(
    'a whole number from 1 to 1000: how many times as long as its medium plays an analysis may last; two minutes at least',
    '3',
  ),
  TRADEWIND_AI_MEMORY_MB: whole(
    'a whole number from 1000 to 999999: memory of each analysis; the programs that it starts get half as much',
    '4000',
  ),
  TRADEWIND_AI_SANDBOX: Type.Union(
    ['auto', 'required', 'off'].map((way) => Type.Literal(way)),
    {
      default: 'auto',
      rule: 'auto, required or off: whether analyses of AI tasks run in a sandbox of bubblewrap, where it works, always or never',
    },
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
  TRADEWIND_ACCESS_LOG: Type.Optional(
    Type.Union([Type.Literal('on'), Type.Literal('off')], {
      rule: 'on or off: whether the log has a line for each request; by default on with the format json',
    }),
  ),
});
type Environment = Static<typeof Environment>;

/** Everything a process is told from outside, parsed once and passed down. */
export interface Config {
  readonly host: string;
  readonly port: number;
  /** Where a process that only works says how it is. */
  readonly workerPort: number | undefined;
  /** Absolute. */
  readonly dataDir: string;
  readonly bootstrapToken: { readonly id: number; readonly secret: string } | undefined;
  /** Undefined: the embedded PostgreSQL in `dataDir`. */
  readonly databaseUrl: string | undefined;
  readonly catalogDir: string;
  /** How long a start waits for a database that doesn't answer. */
  readonly databaseWaitSeconds: number;
  /** Requests of one token, or of one address without any, in 10 seconds; 0 for any number. */
  readonly rateLimit: number;
  /** Addresses and networks that are believed where a request comes from. */
  readonly trustedProxies: readonly string[];
  readonly simulationSpeed: number;
  /** How often what infrastructure has is held against what is wanted. */
  readonly compareMs: number;
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
    /** Whether analyses run in a sandbox: where one works, or not at all without one, or never. */
    readonly sandbox: 'auto' | 'required' | 'off';
    readonly effort: { readonly timeFactor: number; readonly memoryBytes: number };
    readonly media: {
      readonly maxBytes: number;
      readonly idleMs: number;
      readonly bytesPerSecond: number;
      readonly totalMs: number;
    };
  };
  /** A list of hosts that user actions may be sent to besides public ones; see parseAllowedHosts. */
  readonly webhookHosts: string;
  /** Whether other machines may read /metrics. */
  readonly openMetrics: boolean;
  readonly logLevel: string;
  readonly logFormat: 'text' | 'json';
  /** Whether each request has a line in the log. */
  readonly accessLog: boolean;
}

/** People read the lines of one format, machines those of the other. */
const ON_BY_FORMAT = { text: 'off', json: 'on' } as const;

const PREFIX = 'TRADEWIND_';

const within = (min: number, max: number) => (text: string) => Number(text) >= min && Number(text) <= max;

/** What the schema can't see of a setting. */
const CHECKS: Partial<Record<keyof Environment, (text: string) => boolean>> = {
  TRADEWIND_PORT: within(0, 65_535),
  TRADEWIND_WORKER_PORT: within(1, 65_535),
  TRADEWIND_BOOTSTRAP_TOKEN: (text) => bootstrapTokenOf(text) !== undefined,
  DATABASE_URL: isDatabaseUrl,
  TRADEWIND_TRUST_PROXY: (text) => proxiesOf(text).every(isAddressOrNetwork),
  TRADEWIND_SIMULATION_SPEED: within(0.01, 100_000),
  TRADEWIND_COMPARE_SECONDS: within(1, 86_400),
  TRADEWIND_AI_CONCURRENCY: within(0, 64),
  TRADEWIND_AI_CLIENT_CONCURRENCY: within(1, 64),
  TRADEWIND_SPEECH_CONFIDENCE: within(0, 1),
  TRADEWIND_MEDIA_ALLOW_HOSTS: (text) => parseAllowedHosts(text) !== undefined,
  TRADEWIND_WEBHOOK_ALLOW_HOSTS: (text) => parseAllowedHosts(text) !== undefined,
  TRADEWIND_MEDIA_MAX_MB: within(1, 100_000),
  TRADEWIND_MEDIA_IDLE_SECONDS: within(1, 3_600),
  TRADEWIND_MEDIA_MIN_RATE_KB: within(0, 100_000),
  TRADEWIND_MEDIA_TOTAL_SECONDS: within(1, 86_400),
  TRADEWIND_AI_TIME_FACTOR: within(1, 1_000),
  TRADEWIND_AI_MEMORY_MB: within(1_000, 999_999),
};

/**
 * Reads the settings of the environment. An empty text counts as not set.
 * @throws SettingError naming every setting that can't be used
 */
export function loadConfig(environment: Record<string, string | undefined>): Config {
  const names = Object.keys(Environment.properties) as (keyof Environment)[];
  const given = Object.fromEntries(
    names.flatMap((name) => (environment[name] ? [[name, environment[name]]] : [])),
  );
  const settings: unknown = Value.Default(Environment, given);
  const faulty = new Set(
    Value.Errors(Environment, settings).map(({ instancePath }) => instancePath.slice(1)),
  );
  const unusable = names.filter(
    (name) => faulty.has(name) || (environment[name] && CHECKS[name]?.(environment[name]) === false),
  );
  if (unusable.length > 0 || !Value.Check(Environment, settings)) {
    throw new SettingError(unusable.map(refusal).join('\n'));
  }
  return Object.freeze({
    host: settings.TRADEWIND_HOST,
    port: Number(settings.TRADEWIND_PORT),
    workerPort: settings.TRADEWIND_WORKER_PORT ? Number(settings.TRADEWIND_WORKER_PORT) : undefined,
    dataDir: path.resolve(settings.TRADEWIND_DATA_DIR),
    bootstrapToken: bootstrapTokenOf(settings.TRADEWIND_BOOTSTRAP_TOKEN ?? ''),
    databaseUrl: settings.DATABASE_URL,
    catalogDir: path.resolve(settings.TRADEWIND_CATALOG_DIR ?? path.join(packageRoot, 'catalog')),
    databaseWaitSeconds: Number(settings.TRADEWIND_DATABASE_WAIT),
    rateLimit: Number(settings.TRADEWIND_RATE_LIMIT),
    trustedProxies: proxiesOf(settings.TRADEWIND_TRUST_PROXY ?? ''),
    simulationSpeed: Number(settings.TRADEWIND_SIMULATION_SPEED),
    compareMs: Number(settings.TRADEWIND_COMPARE_SECONDS) * 1_000,
    temporaryDir: path.resolve(settings.TRADEWIND_TMP ?? path.join(settings.TRADEWIND_DATA_DIR, 'tmp')),
    searchPath: environment.PATH || '/usr/local/bin:/usr/bin:/bin',
    ai: aiOf(settings),
    webhookHosts: settings.TRADEWIND_WEBHOOK_ALLOW_HOSTS ?? '',
    openMetrics: settings.TRADEWIND_METRICS === 'open',
    logLevel: settings.TRADEWIND_LOG_LEVEL,
    logFormat: settings.TRADEWIND_LOG_FORMAT,
    accessLog: (settings.TRADEWIND_ACCESS_LOG ?? ON_BY_FORMAT[settings.TRADEWIND_LOG_FORMAT]) === 'on',
  });
}

/** Every setting, a line each, with its default. */
export function settingsHelp(): string {
  const settings = Object.entries(
    Environment.properties as Record<string, { rule?: string; default?: string }>,
  );
  return columns(
    settings.map(([name, { rule, default: value }]) => [
      name,
      `${rule}${value === undefined ? '' : ` (${value})`}`,
    ]),
  );
}

/** A line for each name that looks like a setting and is none: most likely a typing error. */
export function unknownSettings(environment: Record<string, string | undefined>): string[] {
  const known = Object.keys(Environment.properties);
  return Object.keys(environment)
    .filter((name) => name.startsWith(PREFIX) && !known.includes(name))
    .map((name) => {
      const bare = name.slice(PREFIX.length);
      const meant = known.includes(bare) ? bare : closestName(name, known);
      const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
      return `${name} is no setting of Tradewind and has no effect${hint}`;
    });
}

function refusal(name: keyof Environment): string {
  // The value stays out of the message: a token or a password may be in it.
  return `${name} is not usable: it must be ${(Environment.properties[name] as { rule?: string }).rule}`;
}

function aiOf(settings: Environment): Config['ai'] {
  const { TRADEWIND_AI_CONCURRENCY: concurrency, TRADEWIND_MODEL_DIR: modelDir } = settings;
  return {
    concurrency:
      concurrency === undefined
        ? Math.max(1, Math.floor(os.availableParallelism() / 2))
        : Number(settings.TRADEWIND_AI_CONCURRENCY),
    perClient: Number(settings.TRADEWIND_AI_CLIENT_CONCURRENCY),
    modelDir: modelDir === undefined ? undefined : path.resolve(modelDir),
    engines: {
      ffmpeg: settings.TRADEWIND_FFMPEG,
      ffprobe: settings.TRADEWIND_FFPROBE,
      pocketsphinx: settings.TRADEWIND_POCKETSPHINX,
      pocketsphinxModel: path.resolve(settings.TRADEWIND_POCKETSPHINX_MODEL),
      minWordConfidence: Number(settings.TRADEWIND_SPEECH_CONFIDENCE),
    },
    allowedHosts: settings.TRADEWIND_MEDIA_ALLOW_HOSTS ?? '',
    sandbox: settings.TRADEWIND_AI_SANDBOX,
    effort: {
      timeFactor: Number(settings.TRADEWIND_AI_TIME_FACTOR),
      memoryBytes: Number(settings.TRADEWIND_AI_MEMORY_MB) * 1_000_000,
    },
    media: {
      maxBytes: Number(settings.TRADEWIND_MEDIA_MAX_MB) * 1_000_000,
      idleMs: Number(settings.TRADEWIND_MEDIA_IDLE_SECONDS) * 1_000,
      bytesPerSecond: Number(settings.TRADEWIND_MEDIA_MIN_RATE_KB) * 1_000,
      totalMs: Number(settings.TRADEWIND_MEDIA_TOTAL_SECONDS) * 1_000,
    },
  };
}

function proxiesOf(text: string): string[] {
  const proxies = text.split(',').map((each) => each.trim());
  return proxies.filter((each) => each !== '');
}

function isAddressOrNetwork(text: string): boolean {
  return net.isIP(text) !== 0 || (net.isIP(text.split('/')[0] ?? '') !== 0 && ipaddr.isValidCIDR(text));
}

function bootstrapTokenOf(text: string): Config['bootstrapToken'] {
  const token = parseTokenText(text);
  if (!token || token.secret.length < SHORTEST_SECRET) return undefined;
  return token.id >= 1 && token.id <= 2_147_483_647 ? token : undefined;
}

function isDatabaseUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && /^postgres(ql)?:$/.test(url.protocol) && url.pathname.length >= 2;
}
