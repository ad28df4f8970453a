#!/usr/bin/env node
import { isatty } from 'node:tty';
import { loadConfig, settingsHelp, unknownSettings } from './config.ts';
import { OperatorError, SchemaError, SettingError } from './lib/errors.ts';
import { version } from './lib/own-program.ts';
import { EXIT_USAGE } from './start/command.ts';
import { ownCommands, readCommandLine } from './start/command-line.ts';
import { npmWaitsFor, whenLauncherIsGone } from './start/launcher.ts';

/** Exit codes of sysexits.h, which a supervisor can tell apart. */
const EXIT_FAILED = 70;
const EXIT_CONFIG = 78;
/** Not from sysexits.h: a restart is useless until somebody has run another command. */
const EXIT_SCHEMA = 57;

async function main(): Promise<number> {
  const words = process.argv.slice(2);
  const asked = readCommandLine(words, process.env);
  if (!asked) return askServer(words);
  if ('print' in asked) {
    process.stdout.write(asked.print);
    return 0;
  }
  if ('fault' in asked) {
    process.stderr.write(asked.fault);
    return EXIT_USAGE;
  }
  for (const line of unknownSettings(process.env)) process.stderr.write(`${line}\n`);
  const { command, options } = asked;
  return command.run({ config: loadConfig(process.env), options, stop: stopSignal() });
}

/** Its libraries are loaded here alone: a server doesn't need them. */
async function askServer(words: readonly string[]): Promise<number> {
  const { processTerminal, runClient } = await import('../cli/main.ts');
  // As with "| head": what follows events has no other end.
  const unread = new AbortController();
  process.stdout.on('error', () => unread.abort());
  const terminal = processTerminal(process.env, AbortSignal.any([stopSignal(), unread.signal]));
  return runClient(words, { terminal, server: { commands: ownCommands(), settings: settingsHelp }, version });
}

/**
 * Returns a signal that fires at the first SIGTERM or SIGINT, or when the process that started us ends. Later
 * signals are ignored, since Ctrl-C may reach a process group more than once.
 */
function stopSignal(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => controller.abort());
  // Node undoes nohup for this signal; under nohup, no stream is a terminal any more.
  process.on('SIGHUP', () => {
    if ([0, 1, 2].some((stream) => isatty(stream))) controller.abort();
  });
  // The reader of these streams may be gone, such as a closed terminal; that must not end the process.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  whenLauncherIsGone(() => controller.abort('the process that started it has gone'), {
    runByNpm: process.env.npm_lifecycle_event !== undefined,
    waits: npmWaitsFor(process.env.npm_lifecycle_script),
  });
  return controller.signal;
}

function exitCodeOf(error: unknown): number {
  if (error instanceof SchemaError) return EXIT_SCHEMA;
  return error instanceof SettingError ? EXIT_CONFIG : EXIT_FAILED;
}

function fail(error: unknown): never {
  const text = error instanceof OperatorError ? error.message : ((error as Error)?.stack ?? String(error));
  process.stderr.write(`${text}\n`);
  process.exit(exitCodeOf(error));
}

// Exits explicitly: after an unclean stop, something may still keep the event loop running.
main().then((code) => process.exit(code), fail);
