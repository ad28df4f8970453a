import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import ipaddr from 'ipaddr.js';
import { type Static, Type } from 'typebox';
import { Value } from 'typebox/value';
import { SettingError } from './lib/errors.ts';
import { isLocalHost } from './lib/ip-addresses.ts';
import { parseAllowedHosts } from './lib/outside-request.ts';
import { packageRoot } from './lib/own-program.ts';
import { closestName } from './lib/texts.ts';
import { isMailAddress, isPublicUrl, isSmtpUrl } from './mail/settings.ts';
import { parseTokenText } from './requests/principal.ts';
import { KEY_FORM, parseEncryptionKeys } from './secrets/encryption-keys.ts';
import { tracingSettings } from './tracing/start.ts';

/** Formats two columns for a terminal, with the second one to the right of the longest name. */
export function columns(rows: [name: string, text: string][]): string {
  const width = Math.max(0, ...rows.map(([name]) => name.length)) + 2;
  return rows.map(([name, text]) => `  ${name.padEnd(width)}${text}`).join('\n');
}

/** A text. `rule` says what it must be. */
const text = (rule: string, value?: string) => Type.String({ rule, ...(value !== undefined && { default: value }) });
const optional = (rule: string) => Type.Optional(text(rule));

/** A number within those bounds; `what` describes its purpose. */
const whole = (min: number, max: number, what: string, value?: string) => ({
  ...text(`a whole number from ${min} to ${max}: ${what}`, value),
  pattern: '^\\d{1,9}$',
  bounds: [min, max],
});
const decimal = (min: number, max: number, what: string, value: string) => ({
  ...text(`a number from ${min} to ${max}: ${what}`, value),
  pattern: '^\\d{1,6}(\\.\\d{1,6})?$',
  bounds: [min, max],
});

const program = (name: string) => ({
  ...text("a program's name, looked for in PATH, or its absolute path", name),
  pattern: '^(/.+|[^/]+)$',
});

const oneOf = <const Value extends string>(values: readonly Value[], rule: string, value?: Value) =>
  Type.Enum([...values], { rule, ...(value !== undefined && { default: value }) });

/** Too many to guess; "openssl rand -hex 32" makes more. */
const SHORTEST_SECRET = 16;

const Environment = Type.Object({
  TRADEWIND_HOST: text('a host name or an IP address', '127.0.0.1'),
  TRADEWIND_PORT: whole(0, 65_535, '0 picks a free port', '8080'),
  TRADEWIND_WORKER_PORT: Type.Optional(
    whole(1, 65_535, 'the port where --role worker serves /healthz, /readyz and /metrics; not served if unset'),
  ),
  TRADEWIND_WORKER_REGIONS: optional(
    'a list such as 1,3: the only regions whose infrastructure this worker works on; other work is for every worker',
  ),
  TRADEWIND_DATA_DIR: text('a folder that Tradewind may write to', './data'),
  TRADEWIND_BOOTSTRAP_TOKEN: optional(
    `<id>_<secret> or <id>$<secret>, where the id is a whole number from 1 to 2147483647 and the secret has at least ${SHORTEST_SECRET} characters`,
  ),
  DATABASE_URL: optional('a URL like postgresql://user:password@host:5432/database'),
  TRADEWIND_DURABILITY: oneOf(
    ['full', 'relaxed'],
    'full, or relaxed for tests: the embedded database does not wait for the disk, and a crash of the machine may make its folder unusable. On Linux, unless CI is set, the first new folder takes longer, and later ones begin with a copy of its tables in ~/.cache/tradewind/databases (60 MB, which may be deleted)',
    'full',
  ),
  TRADEWIND_ENCRYPTION_KEY_FILE: optional(
    'a file that other users cannot read, with the key that encrypts the secrets in the database; by default encryption-key in the data folder',
  ),
  TRADEWIND_ENCRYPTION_KEY: optional(
    `the key itself instead of a file: ${KEY_FORM}; older keys, only used for reading, may follow, separated by commas`,
  ),
  TRADEWIND_CATALOG_DIR: optional('a folder with the catalogue files'),
  TRADEWIND_DATABASE_WAIT: whole(0, 999_999, 'seconds to wait at the start for a database that does not answer', '60'),
  TRADEWIND_RATE_LIMIT: whole(
    0,
    999_999_999,
    'requests that each process accepts in 10 seconds from one token, or from one address without a valid token; 0 for no limit',
    '10000',
  ),
  TRADEWIND_STRICT: oneOf(
    ['false', 'true'],
    'false or true: whether fields that nobody knows are refused under /gcore too, where they are ignored otherwise',
    'false',
  ),
  TRADEWIND_TRUST_PROXY: optional(
    'the addresses or networks (CIDR) of your proxies, separated by commas; their X-Forwarded-For header says where a request comes from',
  ),
  TRADEWIND_SIMULATION_SPEED: decimal(0.01, 100_000, '1 is the normal speed, 10 is ten times as fast', '1'),
  TRADEWIND_KUBERNETES_DIR: optional(
    'a folder with the programs of Kubernetes, one folder for each version; by default kubernetes in the data folder',
  ),
  TRADEWIND_KUBERNETES_URL: text(
    'where "tradewind kubernetes install" finds the releases of Kubernetes',
    'https://dl.k8s.io/release',
  ),
  TRADEWIND_ETCD_URL: text('where it finds the releases of etcd', 'https://github.com/etcd-io/etcd/releases/download'),
  TRADEWIND_COMPARE_SECONDS: whole(
    1,
    86_400,
    'seconds between two comparisons of the infrastructure with what is wanted',
    '600',
  ),
  TRADEWIND_SUSPENSION_STOPS_MACHINES: oneOf(
    ['false', 'true'],
    'false or true: whether machines of accounts that are suspended from now on stop, and start again when the account is resumed',
    'false',
  ),
  TRADEWIND_TASKS_KEPT_DAYS: whole(0, 99_999, 'days that tasks are kept for, at least; 0 for ever', '0'),
  TRADEWIND_LOG_KEPT_DAYS: whole(
    0,
    99_999,
    'days that the audit log and user actions are kept for, at least; 0 for ever',
    '365',
  ),
  TRADEWIND_USAGE_KEPT_DAYS: whole(
    0,
    99_999,
    'days that usage is kept for after it ended, for cost reports and invoices: 60 at least, or 0 for ever',
    '0',
  ),
  TRADEWIND_INVOICE_GRACE: whole(
    0,
    672,
    'hours after the end of a month in which its invoices stay drafts, before they get numbers and are sent',
    '72',
  ),
  TRADEWIND_TMP: optional('a folder for the files of running AI tasks; by default in the data folder'),
  TRADEWIND_AI_CONCURRENCY: Type.Optional(
    whole(0, 64, 'AI tasks that this process runs at a time; by default one for every two processors'),
  ),
  TRADEWIND_AI_CLIENT_CONCURRENCY: whole(1, 64, 'AI tasks that run at a time for one account', '1'),
  TRADEWIND_MODEL_DIR: optional('a folder with your own models for AI tasks and their manifest.json'),
  TRADEWIND_FFMPEG: program('ffmpeg'),
  TRADEWIND_FFPROBE: program('ffprobe'),
  TRADEWIND_POCKETSPHINX: program('pocketsphinx_batch'),
  TRADEWIND_POCKETSPHINX_MODEL: text(
    "the folder of pocketsphinx's English model",
    '/usr/share/pocketsphinx/model/en-us',
  ),
  TRADEWIND_SPEECH_CONFIDENCE: decimal(
    0,
    1,
    'speech that pocketsphinx recognises with a lower average confidence counts as not English',
    '0.45',
  ),
  TRADEWIND_MEDIA_ALLOW_HOSTS: optional(
    'a list such as media.internal,10.0.0.7:8080: hosts in your own network that AI tasks may fetch files from',
  ),
  TRADEWIND_MEDIA_MAX_MB: whole(1, 100_000, 'size limit in MB for the media file of an AI task', '512'),
  TRADEWIND_MEDIA_IDLE_SECONDS: whole(1, 3_600, 'seconds that the server of a media file may send nothing', '30'),
  TRADEWIND_MEDIA_MIN_RATE_KB: whole(
    0,
    100_000,
    'kB a second that the server of a media file must send at least, measured over TRADEWIND_MEDIA_IDLE_SECONDS',
    '32',
  ),
  TRADEWIND_MEDIA_TOTAL_SECONDS: whole(1, 86_400, 'seconds that fetching a media file may take', '600'),
  TRADEWIND_WEBHOOK_ALLOW_HOSTS: optional(
    'a list such as audit.internal,10.0.0.7:8080: hosts in your own network that webhooks and user actions may be sent to, and that may be identity providers',
  ),
  TRADEWIND_SMTP_URL: optional(
    'a URL like smtps://user:password@host:465 or smtp://host:587: the server that takes mails; without it they are put into a folder',
  ),
  TRADEWIND_MAIL_FROM: text('the e-mail address that mails come from', 'tradewind@localhost'),
  TRADEWIND_PUBLIC_URL: optional(
    'a URL like https://cloud.example.com: the beginning of links in mails, where you serve the pages that docs/accounts.md names and people may use passkeys or sign in with their company',
  ),
  TRADEWIND_MAIL_TEMPLATES: optional("a folder with your own templates of mails, instead of Tradewind's"),
  TRADEWIND_MAIL_DIR: optional(
    'a folder for mails if there is no TRADEWIND_SMTP_URL; by default mail in the data folder',
  ),
  TRADEWIND_AI_TIME_FACTOR: whole(
    1,
    1_000,
    'time limit of an analysis, as a multiple of the playing time of its media file; never less than two minutes',
    '3',
  ),
  TRADEWIND_AI_MEMORY_MB: whole(
    1_000,
    999_999,
    'memory in MB for each analysis; the programs that it starts get half as much',
    '4000',
  ),
  TRADEWIND_AI_SANDBOX: oneOf(
    ['auto', 'required', 'off'],
    'auto, required or off: whether analyses of AI tasks run in a bubblewrap sandbox where it works, always or never',
    'auto',
  ),
  TRADEWIND_CONSOLE: oneOf(['on', 'off'], 'on or off: whether the console is served under /console/', 'on'),
  TRADEWIND_METRICS: oneOf(
    ['local', 'open'],
    'local or open: whether /metrics answers only programs on this machine, or everybody',
    'local',
  ),
  TRADEWIND_LOG_LEVEL: oneOf(
    ['debug', 'info', 'warn', 'error', 'silent'],
    'one of debug, info, warn, error, silent',
    'info',
  ),
  TRADEWIND_LOG_FORMAT: oneOf(['text', 'json'], 'text or json', 'text'),
  TRADEWIND_ACCESS_LOG: Type.Optional(
    oneOf(['on', 'off'], 'on or off: whether each request is logged; by default on with the json format'),
  ),
  TRADEWIND_SEED: optional(
    'a YAML file of accounts, projects and resources that are made at the start where they are missing',
  ),
  TRADEWIND_TEST_API: oneOf(
    ['false', 'true', 'beyond-loopback'],
    'false, true or beyond-loopback: whether tests may reset everything, let things fail and set the time; true needs an address that only this machine reaches',
    'false',
  ),
  TRADEWIND_TEST_CLOCK: optional(
    'a time such as 2031-03-01T00:00:00Z, at which the clock of tests stands still from the start; it needs TRADEWIND_TEST_API',
  ),
});
type Environment = Static<typeof Environment>;

/** All settings of a process, parsed once and passed down. Folders are absolute. */
export type Config = ReturnType<typeof loadConfig>;

/** The text format is for people, JSON for machines. */
const ON_BY_FORMAT = { text: 'off', json: 'on' } as const;

const PREFIX = 'TRADEWIND_';

/** Checks that the schema can't express. */
const CHECKS: Partial<Record<keyof Environment, (text: string) => boolean>> = {
  TRADEWIND_WORKER_REGIONS: (text) => /^\d{1,9}(,\d{1,9}){0,999}$/.test(text),
  TRADEWIND_BOOTSTRAP_TOKEN: (text) => bootstrapTokenOf(text) !== undefined,
  DATABASE_URL: isDatabaseUrl,
  TRADEWIND_ENCRYPTION_KEY: (text) => parseEncryptionKeys(text) !== undefined,
  TRADEWIND_TRUST_PROXY: (text) => proxiesOf(text).every(isAddressOrNetwork),
  TRADEWIND_MEDIA_ALLOW_HOSTS: (text) => parseAllowedHosts(text) !== undefined,
  TRADEWIND_WEBHOOK_ALLOW_HOSTS: (text) => parseAllowedHosts(text) !== undefined,
  TRADEWIND_SMTP_URL: isSmtpUrl,
  TRADEWIND_MAIL_FROM: isMailAddress,
  TRADEWIND_PUBLIC_URL: isPublicUrl,
  TRADEWIND_TEST_CLOCK: isInstant,
};

function cacheOf({ XDG_CACHE_HOME, HOME }: NodeJS.ProcessEnv): string | undefined {
  const folder = XDG_CACHE_HOME || (HOME && path.join(HOME, '.cache'));
  return folder && path.resolve(folder, 'tradewind');
}

/**
 * Reads the settings from the environment. An empty text counts as not set.
 * @throws SettingError naming every setting that can't be used
 */
export function loadConfig(environment: Record<string, string | undefined>) {
  const names = Object.keys(Environment.properties) as (keyof Environment)[];
  const given = Object.fromEntries(names.flatMap((name) => (environment[name] ? [[name, environment[name]]] : [])));
  const settings: unknown = Value.Default(Environment, given);
  const faulty = new Set(Value.Errors(Environment, settings).map(({ instancePath }) => instancePath.slice(1)));
  const unusable = names.filter((name) => {
    const value = environment[name];
    return faulty.has(name) || (value && (!isInBounds(name, value) || CHECKS[name]?.(value) === false));
  });
  if (unusable.length > 0 || !Value.Check(Environment, settings)) {
    throw new SettingError(unusable.map(refusal).join('\n'));
  }
  requireTogether(settings, environment);
  return Object.freeze({
    host: settings.TRADEWIND_HOST,
    port: Number(settings.TRADEWIND_PORT),
    /** The health port of a process that is only a worker. */
    workerPort: settings.TRADEWIND_WORKER_PORT ? Number(settings.TRADEWIND_WORKER_PORT) : undefined,
    /** Undefined for all of them. */
    workerRegions: settings.TRADEWIND_WORKER_REGIONS?.split(',').map(Number),
    dataDir: path.resolve(settings.TRADEWIND_DATA_DIR),
    bootstrapToken: bootstrapTokenOf(settings.TRADEWIND_BOOTSTRAP_TOKEN ?? ''),
    /** Undefined for the embedded PostgreSQL in `dataDir`. */
    databaseUrl: settings.DATABASE_URL,
    /** Whether the embedded PostgreSQL may lose what is in the machine's memory. */
    relaxed: settings.TRADEWIND_DURABILITY === 'relaxed',
    /** The key that encrypts the secrets in the database, or else the file that contains it. */
    encryptionKey: settings.TRADEWIND_ENCRYPTION_KEY,
    encryptionKeyFile: path.resolve(
      settings.TRADEWIND_ENCRYPTION_KEY_FILE ?? path.join(settings.TRADEWIND_DATA_DIR, 'encryption-key'),
    ),
    encryptionKeyFileNamed: settings.TRADEWIND_ENCRYPTION_KEY_FILE !== undefined,
    catalogDir: path.resolve(settings.TRADEWIND_CATALOG_DIR ?? path.join(packageRoot, 'catalog')),
    /** How long a start waits for a database that doesn't answer. */
    databaseWaitSeconds: Number(settings.TRADEWIND_DATABASE_WAIT),
    /** Requests of one token, or of one address without a token, in 10 seconds; 0 for any number. */
    rateLimit: Number(settings.TRADEWIND_RATE_LIMIT),
    /** Whether unknown fields are refused at every base address. */
    strict: settings.TRADEWIND_STRICT === 'true',
    /** Addresses and networks that are trusted to tell the client's address. */
    trustedProxies: proxiesOf(settings.TRADEWIND_TRUST_PROXY ?? ''),
    simulationSpeed: Number(settings.TRADEWIND_SIMULATION_SPEED),
    /** Programs of Kubernetes, in a folder for each version. */
    kubernetesDir: path.resolve(
      settings.TRADEWIND_KUBERNETES_DIR ?? path.join(settings.TRADEWIND_DATA_DIR, 'kubernetes'),
    ),
    kubernetesSources: {
      kubernetesUrl: settings.TRADEWIND_KUBERNETES_URL.replace(/\/$/, ''),
      etcdUrl: settings.TRADEWIND_ETCD_URL.replace(/\/$/, ''),
    },
    /** How often the infrastructure is compared with what is wanted. */
    compareMs: Number(settings.TRADEWIND_COMPARE_SECONDS) * 1_000,
    suspensionStopsMachines: settings.TRADEWIND_SUSPENSION_STOPS_MACHINES === 'true',
    /** For how long, in days; undefined for ever. */
    kept: {
      tasks: Number(settings.TRADEWIND_TASKS_KEPT_DAYS) || undefined,
      log: Number(settings.TRADEWIND_LOG_KEPT_DAYS) || undefined,
      usage: Number(settings.TRADEWIND_USAGE_KEPT_DAYS) || undefined,
    },
    /** How long after a month its invoices become final. */
    invoiceGraceMs: Number(settings.TRADEWIND_INVOICE_GRACE) * 3_600_000,
    temporaryDir: path.resolve(settings.TRADEWIND_TMP ?? path.join(settings.TRADEWIND_DATA_DIR, 'tmp')),
    /** Folders of programs, as in PATH. */
    searchPath: environment.PATH || '/usr/local/bin:/usr/bin:/bin',
    /** Where to keep what can be made again; undefined where nothing lasts. */
    cacheDir: environment.CI ? undefined : cacheOf(environment),
    ai: aiOf(settings),
    /** A list of hosts that are allowed as webhooks besides public ones; see parseAllowedHosts. */
    webhookHosts: settings.TRADEWIND_WEBHOOK_ALLOW_HOSTS ?? '',
    mail: mailOf(settings),
    console: settings.TRADEWIND_CONSOLE === 'on',
    /** Whether other machines may read /metrics. */
    openMetrics: settings.TRADEWIND_METRICS === 'open',
    /** What is made at the start, and the variables that the file may name. */
    seed: seedOf(settings.TRADEWIND_SEED, environment),
    testApi: settings.TRADEWIND_TEST_API !== 'false',
    /** Where the clock of tests begins, and stands still. */
    testClock: settings.TRADEWIND_TEST_CLOCK ? new Date(settings.TRADEWIND_TEST_CLOCK) : undefined,
    /** Undefined without traces. */
    tracing: tracingSettings(environment),
    logLevel: settings.TRADEWIND_LOG_LEVEL,
    logFormat: settings.TRADEWIND_LOG_FORMAT,
    /** Whether each request is logged in one line. */
    accessLog: (settings.TRADEWIND_ACCESS_LOG ?? ON_BY_FORMAT[settings.TRADEWIND_LOG_FORMAT]) === 'on',
  });
}

/** @throws SettingError for settings that need each other */
const LEAST_USAGE_DAYS = 60;

function requireTogether(settings: Environment, environment: Record<string, string | undefined>): void {
  if (settings.TRADEWIND_TEST_API === 'true' && !isLocalHost(settings.TRADEWIND_HOST)) {
    throw new SettingError(
      'TRADEWIND_TEST_API=true needs an address that only this machine reaches, such as TRADEWIND_HOST=127.0.0.1: whoever has the token of the platform administrator can delete everything with one request. TRADEWIND_TEST_API=beyond-loopback serves the test API all the same',
    );
  }
  if (settings.TRADEWIND_DURABILITY === 'relaxed' && settings.DATABASE_URL !== undefined) {
    throw new SettingError('TRADEWIND_DURABILITY=relaxed is for the embedded database; leave it out with DATABASE_URL');
  }
  if (settings.TRADEWIND_SMTP_URL !== undefined && !environment.TRADEWIND_MAIL_FROM) {
    throw new SettingError('TRADEWIND_SMTP_URL needs TRADEWIND_MAIL_FROM: the address that mails come from');
  }
  const usageDays = Number(settings.TRADEWIND_USAGE_KEPT_DAYS);
  if (usageDays > 0 && usageDays < LEAST_USAGE_DAYS) {
    throw new SettingError(
      `TRADEWIND_USAGE_KEPT_DAYS must be ${LEAST_USAGE_DAYS} at least, or 0 for ever: invoices of a month are made from its usage`,
    );
  }
  if (settings.TRADEWIND_TEST_CLOCK !== undefined && settings.TRADEWIND_TEST_API === 'false') {
    throw new SettingError('TRADEWIND_TEST_CLOCK needs TRADEWIND_TEST_API: without it nobody can move the clock on');
  }
}

function seedOf(file: string | undefined, environment: Record<string, string | undefined>) {
  return file ? { file: path.resolve(file), variables: (name: string) => environment[name] } : undefined;
}

/** Returns every setting with what it must be and its default. */
export function listSettings(): { name: string; rule: string; default?: string }[] {
  const settings = Object.entries(Environment.properties as Record<string, { rule?: string; default?: string }>);
  return settings.map(([name, { rule = '', default: value }]) => ({
    name,
    rule,
    ...(value !== undefined && { default: value }),
  }));
}

/** Returns every setting with its default, one per line. */
export function settingsHelp(): string {
  return columns(
    listSettings().map(({ name, rule, default: value }) => [
      name,
      `${rule}${value === undefined ? '' : ` (${value})`}`,
    ]),
  );
}

/** Settings of the command line, which asks a server. */
const OF_CLIENTS = ['URL', 'TOKEN', 'TOKEN_FILE', 'PROJECT', 'REGION'].map((name) => PREFIX + name);

/** Returns a line for each name that looks like a setting but isn't: most likely a typing error. */
export function unknownSettings(environment: Record<string, string | undefined>): string[] {
  const known = [...Object.keys(Environment.properties), ...OF_CLIENTS];
  return Object.keys(environment)
    .filter((name) => name.startsWith(PREFIX) && !known.includes(name))
    .map((name) => {
      const bare = name.slice(PREFIX.length);
      const meant = known.includes(bare) ? bare : closestName(name, known);
      const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
      return `${name} is not a Tradewind setting and has no effect${hint}`;
    });
}

function isInBounds(name: keyof Environment, value: string): boolean {
  const { bounds } = Environment.properties[name] as { bounds?: number[] };
  const [min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY] = bounds ?? [];
  // The pattern refuses what is not a number.
  return !(Number(value) < min || Number(value) > max);
}

function refusal(name: keyof Environment): string {
  // The message doesn't contain the value, which may be a token or a password.
  return `${name} is not usable: it must be ${(Environment.properties[name] as { rule?: string }).rule}`;
}

function mailOf(settings: Environment) {
  const templates = settings.TRADEWIND_MAIL_TEMPLATES;
  return {
    /** Undefined if mails are put into `folder`. */
    smtpUrl: settings.TRADEWIND_SMTP_URL,
    folder: path.resolve(settings.TRADEWIND_MAIL_DIR ?? path.join(settings.TRADEWIND_DATA_DIR, 'mail')),
    from: settings.TRADEWIND_MAIL_FROM,
    /** Without a slash at the end; undefined for mails without links. */
    publicUrl: settings.TRADEWIND_PUBLIC_URL?.replace(/\/$/, ''),
    templates: templates === undefined ? undefined : path.resolve(templates),
  };
}

function aiOf(settings: Environment) {
  const { TRADEWIND_AI_CONCURRENCY: concurrency, TRADEWIND_MODEL_DIR: modelDir } = settings;
  return {
    /** Tasks at a time in this process, and of one account. */
    concurrency:
      concurrency === undefined
        ? Math.max(1, Math.floor(os.availableParallelism() / 2))
        : Number(settings.TRADEWIND_AI_CONCURRENCY),
    perClient: Number(settings.TRADEWIND_AI_CLIENT_CONCURRENCY),
    modelDir: modelDir === undefined ? undefined : path.resolve(modelDir),
    /** Programs, and the minimum confidence of recognised speech. */
    engines: {
      ffmpeg: settings.TRADEWIND_FFMPEG,
      ffprobe: settings.TRADEWIND_FFPROBE,
      pocketsphinx: settings.TRADEWIND_POCKETSPHINX,
      pocketsphinxModel: path.resolve(settings.TRADEWIND_POCKETSPHINX_MODEL),
      minWordConfidence: Number(settings.TRADEWIND_SPEECH_CONFIDENCE),
    },
    /** A list of hosts; see parseAllowedHosts. */
    allowedHosts: settings.TRADEWIND_MEDIA_ALLOW_HOSTS ?? '',
    /** Whether analyses run in a sandbox: if one works, only with one, or never. */
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

function bootstrapTokenOf(text: string) {
  const token = parseTokenText(text);
  if (!token || token.secret.length < SHORTEST_SECRET) return undefined;
  return token.id >= 1 && token.id <= 2_147_483_647 ? token : undefined;
}

/** In UTC, as `toISOString` writes it, with or without milliseconds. */
function isInstant(text: string): boolean {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) return false;
  return [text, text.replace('Z', '.000Z')].includes(time.toISOString());
}

function isDatabaseUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && /^postgres(ql)?:$/.test(url.protocol) && url.pathname.length >= 2;
}
