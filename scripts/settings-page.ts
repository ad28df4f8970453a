import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { listSettings } from '../src/config.ts';

export const SETTINGS_FILE = path.resolve(
  path.dirname(fileURLToPath(import.meta.url)),
  '../docs/reference/settings.md',
);

interface Group {
  title: string;
  /** What to know of each setting beyond its rule, which the code has. */
  settings: Record<string, string>;
}

const GROUPS: readonly Group[] = [
  {
    title: 'Server and database',
    settings: {
      TRADEWIND_HOST: 'The API listens here.',
      TRADEWIND_PORT: '',
      TRADEWIND_WORKER_PORT: '',
      TRADEWIND_WORKER_REGIONS:
        'For a worker that stands near its infrastructure. `doctor` names regions that no worker works on.',
      TRADEWIND_DATA_DIR: 'Holds the embedded database and its encryption key.',
      TRADEWIND_DURABILITY: 'The log says so at every start. Nothing is lost when only processes end.',
      DATABASE_URL:
        'Use your own PostgreSQL 15 or newer. For a unix socket: `postgresql://user:password@localhost/db?host=/folder`. The role must own the database and needs no other right. `sslmode=require` checks the certificate; `sslrootcert` names its authority.',
      TRADEWIND_DATABASE_WAIT: 'Also applies if the database goes away during the start.',
      TRADEWIND_BOOTSTRAP_TOKEN:
        "Sets the platform administrator's token, so that scripts and containers know it before the start. `openssl rand -hex 32` makes a secret.",
      TRADEWIND_ENCRYPTION_KEY_FILE:
        'The embedded database creates it; a database of your own needs one before the first start. If you lose the key, you lose the secrets ([secrets.md](../secrets.md)).',
      TRADEWIND_ENCRYPTION_KEY: '',
      TRADEWIND_CATALOG_DIR:
        'The default is the `catalog` folder of the installation. `tradewind catalog apply` checks a changed catalogue and applies it to every process ([operators.md](../operators.md#the-catalogue)).',
      TRADEWIND_TRUST_PROXY: 'The log warns if the header arrives and no proxy is named.',
    },
  },
  {
    title: 'Requests',
    settings: {
      TRADEWIND_CONSOLE: 'Only processes that serve the API serve it.',
      TRADEWIND_RATE_LIMIT:
        'Reading a task, `/healthz` and `/readyz` do not count. Separate limits stop one account from using a whole process ([requests.md](../requests.md#overload)).',
      TRADEWIND_SUSPENSION_STOPS_MACHINES:
        'Set it to the same value for all processes ([accounts.md](../accounts.md#manage-accounts)).',
      TRADEWIND_STRICT: 'Ignored fields are named in a response header ([compatibility.md](compatibility.md)).',
    },
  },
  {
    title: 'What is kept',
    settings: {
      TRADEWIND_TASKS_KEPT_DAYS:
        'Set it to the same value for all processes ([operators.md](../operators.md#how-long-tasks-and-the-log-are-kept)).',
      TRADEWIND_LOG_KEPT_DAYS: 'As above.',
      TRADEWIND_USAGE_KEPT_DAYS: 'As above.',
      TRADEWIND_INVOICE_GRACE: 'As above; see [billing.md](../billing.md#invoices).',
    },
  },
  {
    title: 'Mail and webhooks',
    settings: {
      TRADEWIND_SMTP_URL: 'See [accounts.md](../accounts.md#mail). Needs `TRADEWIND_MAIL_FROM`.',
      TRADEWIND_MAIL_FROM: '',
      TRADEWIND_PUBLIC_URL: 'Without it, mails contain tokens and no links.',
      TRADEWIND_MAIL_TEMPLATES: '',
      TRADEWIND_MAIL_DIR: '',
      TRADEWIND_WEBHOOK_ALLOW_HOSTS: 'All other hosts must be on the public internet.',
    },
  },
  {
    title: 'Infrastructure',
    settings: {
      TRADEWIND_SIMULATION_SPEED:
        'Applies to simulated backends that set no `speed` of their own. At 100, a cluster takes about half a second.',
      TRADEWIND_COMPARE_SECONDS: '[backends.md](../backends.md#drift-and-orphans) explains the comparison.',
      TRADEWIND_KUBERNETES_DIR: 'For [hosted clusters](../kubernetes.md).',
      TRADEWIND_KUBERNETES_URL: 'May be a mirror with the same paths.',
      TRADEWIND_ETCD_URL: 'May be a mirror with the same paths.',
    },
  },
  {
    title: 'AI tasks',
    settings: {
      TRADEWIND_AI_CONCURRENCY: '0 runs none in this process.',
      TRADEWIND_AI_CLIENT_CONCURRENCY: 'Counted over all processes. Tasks whose files are being fetched count too.',
      TRADEWIND_AI_TIME_FACTOR: '',
      TRADEWIND_AI_MEMORY_MB: 'Large models of your own need more.',
      TRADEWIND_AI_SANDBOX: '`required` refuses to start without a sandbox.',
      TRADEWIND_TMP:
        'Files are in its folder `ai`: one for each analysis, and up to 16 that are being fetched or wait. The next start removes what a dead process left.',
      TRADEWIND_MEDIA_ALLOW_HOSTS: '[ai.md](../ai.md#where-files-come-from)',
      TRADEWIND_MEDIA_MAX_MB: '',
      TRADEWIND_MEDIA_IDLE_SECONDS: '',
      TRADEWIND_MEDIA_MIN_RATE_KB: '0 accepts any rate.',
      TRADEWIND_MEDIA_TOTAL_SECONDS: '',
      TRADEWIND_MODEL_DIR: '[ai.md](../ai.md#better-models)',
      TRADEWIND_FFMPEG: '',
      TRADEWIND_FFPROBE: '',
      TRADEWIND_POCKETSPHINX: '',
      TRADEWIND_POCKETSPHINX_MODEL: '',
      TRADEWIND_SPEECH_CONFIDENCE: '',
    },
  },
  {
    title: 'Log and metrics',
    settings: {
      TRADEWIND_METRICS: '',
      TRADEWIND_LOG_LEVEL: 'The log goes to standard error.',
      TRADEWIND_LOG_FORMAT: '`json` is for machines.',
      TRADEWIND_ACCESS_LOG:
        'The line has method, path, status, duration, address and account, and neither query nor secret.',
    },
  },
  {
    title: 'Tests',
    settings: {
      TRADEWIND_TEST_API: 'See [testers.md](../testers.md#the-test-kit).',
      TRADEWIND_TEST_CLOCK: '',
      TRADEWIND_SEED: 'See [testers.md](../testers.md#start-with-data).',
    },
  },
];

const HEAD = `# Settings

All settings are environment variables. A value that can't be used stops the start with exit code 78 and names the variable
([all exit codes](../cli.md#exit-codes)). \`npm run openapi\` writes this page from the code.

[Traces](../operators.md#traces) use the standard variables of OpenTelemetry (\`OTEL_...\`). The settings of the command line are in [cli.md](../cli.md#server-and-token).
`;

/** Returns the settings that no group or several groups have. */
export function misplacedSettings(): string[] {
  const placed = GROUPS.flatMap(({ settings }) => Object.keys(settings));
  const known = listSettings().map(({ name }) => name);
  const unknown = placed.filter((name) => !known.includes(name));
  const lacking = known.filter((name) => placed.filter((each) => each === name).length !== 1);
  return [...unknown, ...lacking];
}

export function settingsPage(): string {
  const known = new Map(listSettings().map((setting) => [setting.name, setting]));
  const sections = GROUPS.map(({ title, settings }) => {
    const rows = Object.entries(settings).map(([name, note]) => {
      const { rule = '', default: value } = known.get(name) ?? {};
      const text = [sentence(rule), note].filter(Boolean).join(' ');
      return `| \`${name}\` | ${value ? `\`${value}\`` : ''} | ${text} |`;
    });
    return `## ${title}\n\n| variable | default | value |\n|---|---|---|\n${rows.join('\n')}\n`;
  });
  return [HEAD, ...sections].join('\n');
}

function sentence(rule: string): string {
  const text = rule.replace(/^(?:an?|the|where|one)\b/, (word) => word.charAt(0).toUpperCase() + word.slice(1));
  return `${text.replaceAll('<', '&lt;').replaceAll('|', '\\|')}.`;
}
