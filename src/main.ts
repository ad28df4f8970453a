#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { loadConfig, settingsHelp, unknownSettings } from './config.ts';
import { OperatorError, SettingError } from './lib/operator-error.ts';
import { commands } from './start/commands.ts';

/** Exit codes of sysexits.h: what a supervisor can tell apart. */
const EXIT_USAGE = 64;
const EXIT_FAILED = 70;
const EXIT_CONFIG = 78;
const PARENT_CHECK_MS = 250;

const HELP = `tradewind - a self-hosted cloud control plane

Usage: tradewind <command> [options]

${Object.entries(commands)
  .map(([name, { summary }]) => `  ${name.padEnd(24)}${summary}`)
  .join('\n')}

Settings come from the environment:
${settingsHelp()}

Run "tradewind <command> --help" for the options of one command.
`;

async function main(): Promise<number> {
  const [first = 'serve', second = ''] = process.argv.slice(2);
  if (['help', '--help', '-h'].includes(first)) {
    process.stdout.write(HELP);
    return 0;
  }
  const name = `${first} ${second}` in commands ? `${first} ${second}` : first;
  const command = commands[name];
  if (!command) {
    const meant = Object.keys(commands).find((known) => known.startsWith(`${first} `));
    const hint = meant === undefined ? '"tradewind help" lists them' : `Did you mean "tradewind ${meant}"?`;
    process.stderr.write(`There is no command "${first}". ${hint}\n`);
    return EXIT_USAGE;
  }
  const args = process.argv.slice(2 + name.split(' ').length);
  const options = parseOptions(name, command, args);
  if (typeof options === 'number') return options;
  for (const unknown of unknownSettings(process.env)) {
    process.stderr.write(`${unknown} is no setting of Tradewind and has no effect\n`);
  }
  return command.run({ config: loadConfig(process.env), options, stop: stopSignal() });
}

type Options = Record<string, string | boolean | undefined>;

function parseOptions(name: string, command: (typeof commands)[string], args: string[]): Options | number {
  try {
    const { values } = parseArgs({
      args,
      options: { ...command.options, help: { type: 'boolean', short: 'h' } },
    });
    if (!values.help) return values;
    process.stdout.write(`Usage: tradewind ${name} [options]\n\n${command.summary}\n\n${command.help}`);
    return 0;
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n"tradewind ${name} --help" lists the options.\n`);
    return EXIT_USAGE;
  }
}

/** Aborted by the first SIGTERM or SIGINT; later ones are ignored, since a group gets Ctrl-C more than once. */
function stopSignal(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => controller.abort());
  if (process.env.npm_lifecycle_event === 'start') stopWithParent(controller);
  return controller.signal;
}

/** A signal to npm ends npm and the shell that it started, which passes nothing on: their end is the signal then. */
function stopWithParent(controller: AbortController): void {
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) controller.abort();
  }, PARENT_CHECK_MS).unref();
}

try {
  // Not left to the event loop: after an unclean stop something may still hang in it.
  process.exit(await main());
} catch (error) {
  const text = error instanceof OperatorError ? error.message : ((error as Error)?.stack ?? String(error));
  process.stderr.write(`${text}\n`);
  process.exit(error instanceof SettingError ? EXIT_CONFIG : EXIT_FAILED);
}
