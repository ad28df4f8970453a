import os from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Config, loadConfig, settingsHelp, unknownSettings } from './config.ts';

const KEY = Buffer.alloc(32).toString('base64');

describe('settings', () => {
  it('have defaults, also when they are empty', () => {
    const defaults = {
      host: '127.0.0.1',
      port: 8080,
      workerPort: undefined,
      dataDir: path.resolve('data'),
      bootstrapToken: undefined,
      databaseUrl: undefined,
      relaxed: false,
      encryptionKey: undefined,
      encryptionKeyFile: path.resolve('data/encryption-key'),
      encryptionKeyFileNamed: false,
      catalogDir: path.resolve('catalog'),
      databaseWaitSeconds: 60,
      rateLimit: 10_000,
      strict: false,
      console: true,
      trustedProxies: [],
      simulationSpeed: 1,
      compareMs: 600_000,
      invoiceGraceMs: 259_200_000,
      kept: { tasks: undefined, log: 365, usage: undefined },
      kubernetesDir: path.resolve('data/kubernetes'),
      kubernetesSources: {
        kubernetesUrl: 'https://dl.k8s.io/release',
        etcdUrl: 'https://github.com/etcd-io/etcd/releases/download',
      },
      testApi: false,
      temporaryDir: path.resolve('data/tmp'),
      searchPath: '/usr/local/bin:/usr/bin:/bin',
      cacheDir: undefined,
      ai: {
        concurrency: Math.max(1, Math.floor(os.availableParallelism() / 2)),
        perClient: 1,
        modelDir: undefined,
        engines: {
          ffmpeg: 'ffmpeg',
          ffprobe: 'ffprobe',
          pocketsphinx: 'pocketsphinx_batch',
          pocketsphinxModel: '/usr/share/pocketsphinx/model/en-us',
          minWordConfidence: 0.45,
        },
        allowedHosts: '',
        sandbox: 'auto',
        effort: { timeFactor: 3, memoryBytes: 4_000_000_000 },
        media: { maxBytes: 512_000_000, idleMs: 30_000, bytesPerSecond: 32_000, totalMs: 600_000 },
      },
      webhookHosts: '',
      mail: {
        smtpUrl: undefined,
        folder: path.resolve('data/mail'),
        from: 'tradewind@localhost',
        publicUrl: undefined,
        templates: undefined,
      },
      openMetrics: false,
      suspensionStopsMachines: false,
      logLevel: 'info',
      logFormat: 'text',
      accessLog: false,
    };
    expect(loadConfig({})).toEqual(defaults);
    const empty = Object.fromEntries([...settingsHelp().matchAll(/^ {2}(\S+)/gm)].map(([, name]) => [name, '']));
    expect(Object.keys(empty)).toContain('TRADEWIND_PORT');
    expect(loadConfig(empty)).toEqual(defaults);
  });

  it.each<[name: string, value: string, read: (config: Config) => unknown, expected: unknown]>([
    ['TRADEWIND_WORKER_PORT', '9090', ({ workerPort }) => workerPort, 9090],
    ['TRADEWIND_DATA_DIR', '/d', ({ dataDir }) => dataDir, '/d'],
    ['TRADEWIND_DATA_DIR', '/d', ({ encryptionKeyFile }) => encryptionKeyFile, '/d/encryption-key'],
    ['TRADEWIND_DATA_DIR', '/d', ({ temporaryDir }) => temporaryDir, '/d/tmp'],
    ['TRADEWIND_TMP', '/t', ({ temporaryDir }) => temporaryDir, '/t'],
    ['TRADEWIND_CATALOG_DIR', '/c', ({ catalogDir }) => catalogDir, '/c'],
    ['TRADEWIND_ENCRYPTION_KEY_FILE', '/k', ({ encryptionKeyFile }) => encryptionKeyFile, '/k'],
    ['TRADEWIND_ENCRYPTION_KEY_FILE', '/k', ({ encryptionKeyFileNamed }) => encryptionKeyFileNamed, true],
    ['TRADEWIND_ENCRYPTION_KEY', KEY, ({ encryptionKey }) => encryptionKey, KEY],
    ['DATABASE_URL', 'postgres://h/db', ({ databaseUrl }) => databaseUrl, 'postgres://h/db'],
    ['DATABASE_URL', 'postgresql://h/d', ({ databaseUrl }) => databaseUrl, 'postgresql://h/d'],
    ['TRADEWIND_BOOTSTRAP_TOKEN', '2147483647_16-characters...', (c) => c.bootstrapToken?.id, 2147483647],
    ['TRADEWIND_TRUST_PROXY', ' ::1, 10.0.0.0/8,', (c) => c.trustedProxies, ['::1', '10.0.0.0/8']],
    ['TRADEWIND_COMPARE_SECONDS', '5', ({ compareMs }) => compareMs, 5_000],
    ['TRADEWIND_SIMULATION_SPEED', '0.01', ({ simulationSpeed }) => simulationSpeed, 0.01],
    ['TRADEWIND_PORT', '0', ({ port }) => port, 0],
    ['TRADEWIND_PORT', '65535', ({ port }) => port, 65_535],
    ['TRADEWIND_AI_CONCURRENCY', '0', ({ ai }) => ai.concurrency, 0],
    ['TRADEWIND_MODEL_DIR', '/m', ({ ai }) => ai.modelDir, '/m'],
    ['TRADEWIND_FFMPEG', '/opt/ffmpeg', ({ ai }) => ai.engines.ffmpeg, '/opt/ffmpeg'],
    ['TRADEWIND_SPEECH_CONFIDENCE', '0.5', ({ ai }) => ai.engines.minWordConfidence, 0.5],
    ['TRADEWIND_MEDIA_ALLOW_HOSTS', 'a:80', ({ ai }) => ai.allowedHosts, 'a:80'],
    ['TRADEWIND_WEBHOOK_ALLOW_HOSTS', 'b', ({ webhookHosts }) => webhookHosts, 'b'],
    ['TRADEWIND_AI_SANDBOX', 'required', ({ ai }) => ai.sandbox, 'required'],
    ['TRADEWIND_METRICS', 'open', ({ openMetrics }) => openMetrics, true],
    ['TRADEWIND_LOG_FORMAT', 'json', ({ accessLog }) => accessLog, true],
    ['TRADEWIND_ACCESS_LOG', 'on', ({ accessLog }) => accessLog, true],
    ['PATH', '/bin', ({ searchPath }) => searchPath, '/bin'],
    ['XDG_CACHE_HOME', '/var/cache', ({ cacheDir }) => cacheDir, '/var/cache/tradewind'],
    ['HOME', '/home/me', ({ cacheDir }) => cacheDir, '/home/me/.cache/tradewind'],
  ])('take %s=%s', (name, value, read, expected) => {
    expect(read(loadConfig({ [name]: value }))).toEqual(expected);
  });

  it('keeps nothing where nothing lasts', () => {
    expect(loadConfig({ HOME: '/home/me', CI: 'true' }).cacheDir).toBeUndefined();
  });

  it('lets the access log be off with the format json', () => {
    expect(loadConfig({ TRADEWIND_LOG_FORMAT: 'json', TRADEWIND_ACCESS_LOG: 'off' }).accessLog).toBe(false);
  });

  it.each([
    ['TRADEWIND_PORT', '65536'],
    ['TRADEWIND_PORT', '-1'],
    ['TRADEWIND_PORT', '80x'],
    ['TRADEWIND_PORT', 'x80'],
    ['TRADEWIND_BOOTSTRAP_TOKEN', '0_secret-of-some-length'],
    ['TRADEWIND_BOOTSTRAP_TOKEN', '2147483648_16-characters...'],
    ['TRADEWIND_BOOTSTRAP_TOKEN', 'a-secret-without-its-id'],
    ['TRADEWIND_BOOTSTRAP_TOKEN', '1_x'],
    ['TRADEWIND_BOOTSTRAP_TOKEN', '1_15-characters..'],
    ['DATABASE_URL', 'mysql://u@h/db'],
    ['DATABASE_URL', 'xpostgres://u@h/db'],
    ['DATABASE_URL', 'postgresqlx://u@h/db'],
    ['DATABASE_URL', 'postgres://u@h/'],
    ['DATABASE_URL', 'the database'],
    ['TRADEWIND_ENCRYPTION_KEY', 'short'],
    ['TRADEWIND_TRUST_PROXY', '10.0.0.0/8,proxy'],
    ['TRADEWIND_TRUST_PROXY', '10.0.0.0/33'],
    ['TRADEWIND_TRUST_PROXY', '10.0.0/8'],
    ['TRADEWIND_MEDIA_ALLOW_HOSTS', 'a/b'],
    ['TRADEWIND_WEBHOOK_ALLOW_HOSTS', 'a/b'],
    ['TRADEWIND_FFMPEG', 'bin/ffmpeg'],
    ['TRADEWIND_FFPROBE', '/'],
    ['TRADEWIND_SIMULATION_SPEED', '0'],
    ['TRADEWIND_SIMULATION_SPEED', '1.'],
    ['TRADEWIND_SIMULATION_SPEED', '1e2'],
    ['TRADEWIND_SPEECH_CONFIDENCE', '1.1'],
    ['TRADEWIND_AI_SANDBOX', 'on'],
    ['TRADEWIND_METRICS', 'closed'],
    ['TRADEWIND_ACCESS_LOG', 'true'],
    ['TRADEWIND_LOG_LEVEL', 'loud'],
    ['TRADEWIND_AI_TIME_FACTOR', '0'],
    ['TRADEWIND_AI_MEMORY_MB', '999'],
  ])('refuse %s=%s without repeating the value', (name, value) => {
    expect(() => loadConfig({ [name]: value })).toThrow(new RegExp(`^${name} is not usable: it must be [^\\n]+$`));
  });

  it('take a secret of 16 characters, and say how long one has to be', () => {
    expect(loadConfig({ TRADEWIND_BOOTSTRAP_TOKEN: '1$16-characters...' }).bootstrapToken?.id).toBe(1);
    expect(() => loadConfig({ TRADEWIND_BOOTSTRAP_TOKEN: '1$15-characters..' })).toThrow(/at least 16 characters/);
  });

  it('are all named that are no use', () => {
    const bad = { TRADEWIND_PORT: 'x', TRADEWIND_LOG_FORMAT: 'xml', TRADEWIND_SIMULATION_SPEED: '0' };
    expect(() => loadConfig(bad)).toThrow(
      /^TRADEWIND_PORT .*\nTRADEWIND_SIMULATION_SPEED .*\nTRADEWIND_LOG_FORMAT .*$/,
    );
  });
});

it('names the setting that an unknown one most likely means', () => {
  expect(
    unknownSettings({ TRADEWIND_PROT: '1', TRADEWIND_DATABASE_URL: '1', TRADEWIND_XYZZYX: '1', PATH: '/' }),
  ).toEqual([
    'TRADEWIND_PROT is not a Tradewind setting and has no effect; did you mean TRADEWIND_PORT?',
    'TRADEWIND_DATABASE_URL is not a Tradewind setting and has no effect; did you mean DATABASE_URL?',
    'TRADEWIND_XYZZYX is not a Tradewind setting and has no effect',
  ]);
});

it('shows each setting with its rule and its default', () => {
  const lines = settingsHelp().split('\n');
  expect(lines).toContainEqual(
    expect.stringMatching(/^ {2}TRADEWIND_PORT +a whole number from 0 to 65535: .* \(8080\)$/),
  );
  expect(lines).toContainEqual(expect.stringMatching(/^ {2}DATABASE_URL +a URL like \S+$/));
});

describe('the test API', () => {
  it.each(['127.0.0.1', '::1', 'localhost'])('is served at %s', (host) => {
    expect(loadConfig({ TRADEWIND_TEST_API: 'true', TRADEWIND_HOST: host }).testApi).toBe(true);
  });

  it('is refused beyond this machine, unless that is what is asked for', () => {
    const open = { TRADEWIND_HOST: '0.0.0.0' };
    expect(() => loadConfig({ ...open, TRADEWIND_TEST_API: 'true' })).toThrow('only this machine reaches');
    expect(loadConfig({ ...open, TRADEWIND_TEST_API: 'beyond-loopback' }).testApi).toBe(true);
  });

  it('need not wait for the disk, where the database is ours', () => {
    expect(loadConfig({}).relaxed).toBe(false);
    const relaxed = { TRADEWIND_DURABILITY: 'relaxed' };
    expect(loadConfig(relaxed).relaxed).toBe(true);
    expect(() => loadConfig({ ...relaxed, DATABASE_URL: 'postgresql://localhost/tradewind' })).toThrow(
      'for the embedded database',
    );
    expect(() => loadConfig({ TRADEWIND_DURABILITY: 'none' })).toThrow('TRADEWIND_DURABILITY');
  });

  it('may begin at another time', () => {
    const clock = { TRADEWIND_TEST_CLOCK: '2031-03-01T00:00:00Z' };
    expect(loadConfig({ ...clock, TRADEWIND_TEST_API: 'true' }).testClock).toEqual(new Date(Date.UTC(2031, 2, 1)));
    expect(() => loadConfig(clock)).toThrow('TRADEWIND_TEST_CLOCK needs TRADEWIND_TEST_API');
    expect(() => loadConfig({ TRADEWIND_USAGE_KEPT_DAYS: '59' })).toThrow('must be 60 at least');
    expect(loadConfig({ TRADEWIND_USAGE_KEPT_DAYS: '60' }).kept.usage).toBe(60);
    for (const TRADEWIND_TEST_CLOCK of ['tomorrow', '2031-02-31T00:00:00Z', '2031-03-01']) {
      expect(() => loadConfig({ TRADEWIND_TEST_CLOCK, TRADEWIND_TEST_API: 'true' })).toThrow('a time such as');
    }
  });
});
