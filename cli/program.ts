import tab from '@bomb.sh/tab/commander';
import { Argument, Command, Option } from 'commander';
import { createApi } from './api/client.ts';
import { connectionOf } from './api/connection.ts';
import type { ClientCommand, Option as Described } from './command.ts';
import { areasOfGroups, clientCommands } from './commands.ts';
import { UsageError } from './errors.ts';
import { createOutput } from './terminal/output.ts';
import type { Terminal } from './terminal/terminal.ts';

/** What help and completion need of a command that this program doesn't run. */
export interface ServerCommand {
  name: string;
  summary: string;
  /** All that --help says. */
  usage: string;
  /** Without dashes. */
  options: readonly string[];
}

export interface ServerCommands {
  commands: readonly ServerCommand[];
  /** A list of settings of the server, for the general help. */
  settings(): string;
}

export interface ClientParts {
  terminal: Terminal;
  server: ServerCommands;
  version: string;
}

const HELP_WIDTH = 100;

const INTRODUCTION = `A self-hosted cloud control plane.

Some commands work on this machine, on the data folder or the database: serve, migrate, doctor, catalog, keys, ...
The others ask a server over HTTP. Its address is in TRADEWIND_URL or --url (http://127.0.0.1:8080, or the port of TRADEWIND_PORT), the token in TRADEWIND_TOKEN, or in a file that TRADEWIND_TOKEN_FILE or --token-file names.
"tradewind <command> --help" lists the commands of a group, and the options of a command.`;

const MACHINE = 'On this machine';
/** In this order. */
const AREAS = [MACHINE, 'Machines', 'Storage', 'Network', 'AI tasks', 'What happens', 'Money', 'Accounts'];

/** Builds what the words need: of the groups that they don't name, there is only a line in the general help. */
export function buildProgram(parts: ClientParts, words: readonly string[]): Command {
  const { terminal, server, version } = parts;
  const program = new Command('tradewind')
    .description(INTRODUCTION)
    .usage('<command> [options]')
    .version(`tradewind ${version}`, '-v, --version')
    .helpCommand(false)
    // Clusters have a --version of their own.
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: terminal.out,
      writeErr: terminal.err,
      getOutHelpWidth: () => terminal.width ?? HELP_WIDTH,
      getErrHelpWidth: () => terminal.width ?? HELP_WIDTH,
    })
    .addHelpText('after', () => `\nSettings of the server come from the environment:\n${server.settings()}`);
  const client = clientCommands();
  const areas = areasOfGroups();
  const own = server.commands.filter((one) => !client.some(({ name }) => name === one.name));
  const groups = [...new Set([...own, ...client].map(({ name }) => firstOf(name)))];
  const areaOf = (group: string) => areas.get(group) ?? MACHINE;
  for (const area of AREAS)
    for (const group of groups.filter((each) => areaOf(each) === area)) program.command(group).helpGroup(`${area}:`);
  const meant = words[0] === 'complete' ? words.slice(words.indexOf('--') + 1) : words;
  const opened = <C extends { name: string }>(all: readonly C[]) =>
    all.filter(({ name }) => firstOf(name) === meant[0] || areaOf(firstOf(name)) === MACHINE);
  for (const command of opened(own)) addServerCommand(program, command);
  for (const command of opened(client)) addClientCommand(program, command, parts, isNamed(command, meant));
  describeGroups(program, [...own, ...client]);
  tab(program, { completionCommandName: 'completion' });
  program.commands.find((each) => each.name() === 'completion')?.helpGroup(`${MACHINE}:`);
  return program;
}

const firstOf = (name: string): string => name.replace(/ .*/, '');

const isNamed = ({ name }: ClientCommand, words: readonly string[]): boolean =>
  name === words.slice(0, name.split(' ').length).join(' ');

/** Returns the command of the last word, below those of the words before it. */
function commandFor(program: Command, name: string): Command {
  return name.split(' ').reduce((parent, word) => {
    const known = parent.commands.find((each) => each.name() === word);
    return (known ?? parent.command(word)).helpCommand(false);
  }, program);
}

/** What the commands of a group do, where it isn't to manage what its name says. */
const GROUPS: Readonly<Record<string, string>> = {
  catalog: 'Put the catalogue of what the platform offers into force',
  keys: 'Rotate the keys that encrypt secrets, or give up what can no longer be decrypted',
  user: 'Manage the people of an account, their roles and passwords',
  client: 'Manage accounts: create, change, suspend and delete them',
  orphans: 'Find and remove infrastructure that nothing in the database refers to',
  audit: 'See who did what, and verify that no record was changed',
  engines: 'Install the programs that do AI tasks',
  kubernetes: 'Install the programs of hosted Kubernetes clusters',
  token: 'Manage the API tokens of an account',
  reseller: 'Manage resellers, their people, and what they are told by mail',
  'reseller seller': 'Manage the people of a reseller',
  'reseller notification': 'Manage what a reseller is told by mail',
  product: 'Choose which products accounts may use',
  'product default': "Choose which products a reseller's accounts may use unless decided for them",
  region: 'See the regions of the platform, and choose what runs their clusters',
  resource: 'See the resources of all accounts that you manage',
  task: 'See tasks and what they wait for, cancel and acknowledge them',
  wait: 'Wait until something has ended',
  event: 'See what has happened, and what happens',
  webhook: 'Have events sent to programs, and see how that went',
  price: 'See, set and preview prices',
  'price preview': 'Preview what something would cost before it is made',
  quota: 'See and change quotas, and ask for more',
  'quota threshold': 'Choose when to be told that quotas are nearly used up',
  'quota request': 'Ask for higher quotas, and decide about such requests',
  usage: 'See what was used, and what it cost',
  'usage report': 'Read the reports of the published contract',
  cluster: 'Manage Kubernetes clusters and their pools',
  instance: 'Manage machines: create, change, start, stop and delete them',
  ddos: 'Protect addresses against attacks',
  logging: 'Choose where the logs of clusters go',
  platform: 'See how the platform itself is',
  search: 'Find anything by ID, address or name',
  login: 'See and end logins, and log in as somebody else',
};

const LOOKING = /^(list|get|check|preview|estimate|ask|active)$/;
const ACRONYMS: Readonly<Record<string, string>> = {
  ai: 'AI',
  ip: 'IP',
  ssh: 'SSH',
  l7: 'L7',
  ddos: 'DDoS',
  amqp: 'AMQP',
};

/** `load-balancer pool` as `Manage load balancer pools`. */
function textOfGroup(name: string, all: readonly { name: string }[]): string {
  const verbs = all.flatMap((one) => (one.name.startsWith(`${name} `) ? (one.name.split(' ').at(-1) ?? []) : []));
  const words = name.split(/[ -]/).map((word) => ACRONYMS[word] ?? word);
  const many = words
    .join(' ')
    .replace(/(?<=[^aeiou])y$/, 'ie')
    .replace(/s$/, 'se');
  return `${verbs.every((verb) => LOOKING.test(verb)) ? 'See' : 'Manage'} ${many}s`;
}

function describeGroups(parent: Command, all: readonly { name: string }[], before = ''): void {
  for (const group of parent.commands.filter((each) => each.description() === '')) {
    const name = before + group.name();
    group.description(GROUPS[name] ?? textOfGroup(name, all));
    describeGroups(group, all, `${name} `);
  }
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function addServerCommand(program: Command, { name, summary, usage, options }: ServerCommand): void {
  const command = commandFor(program, name).description(capital(summary));
  for (const option of options) command.option(`--${option}`);
  command.helpInformation = () => usage;
}

function addClientCommand(program: Command, described: ClientCommand, parts: ClientParts, isMeant: boolean): void {
  const command = commandFor(program, described.name).description(described.summary);
  if (!isMeant) return;
  const { help, arguments: positions, options } = described;
  if (help !== undefined) command.addHelpText('after', `\n${help}`);
  for (const { name: word, text } of positions) command.addArgument(new Argument(`<${word}>`, text));
  const flags = options.map((option) => ({ option, flag: flagOf(option) }));
  for (const { flag } of flags) command.addOption(flag);
  command
    .option('--json', 'Print JSON')
    .option('--url <ADDRESS>', 'The server (TRADEWIND_URL)')
    .option('--token-file <FILE>', 'A file with the token, or - for standard input (TRADEWIND_TOKEN)')
    .addOption(new Option('--token [TOKEN]').hideHelp())
    .action(async () => {
      const given = command.opts();
      if (given.token !== undefined)
        throw new UsageError(
          '--token would show the token to everybody on this machine who lists processes: put it into TRADEWIND_TOKEN, or into a file for --token-file',
        );
      const values = {
        ...Object.fromEntries(positions.map(({ name: word }, at) => [word, command.args[at]])),
        ...Object.fromEntries(flags.map(({ option, flag }) => [option.name, given[flag.attributeName()]])),
      };
      const { terminal, version } = parts;
      const { environment, stop, readInput } = terminal;
      const connection = await connectionOf({ ...given, anonymous: described.anonymous }, environment, readInput);
      await described.run({
        api: createApi(connection, { agent: `tradewind/${version}`, stop }),
        values,
        terminal,
        output: createOutput(terminal, given.json === true),
      });
    });
}

function flagOf({ name, value, text, many, values, required, read }: Described): Option {
  const flag = new Option(value === undefined ? `--${name}` : `--${name} <${values ? 'VALUE' : value}>`, text);
  if (values) flag.choices(values);
  if (required) flag.makeOptionMandatory();
  const choice = flag.parseArg;
  flag.argParser((typed: string, before: unknown) => {
    if (choice) choice(typed, undefined);
    const one = read ? read(typed) : typed;
    // Of things with parts, the whole list may be given at once.
    return many ? [...((before as unknown[] | undefined) ?? []), one].flat() : one;
  });
  return flag;
}
