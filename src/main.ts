#!/usr/bin/env node
import { loadConfig, unknownSettings } from './config.ts';
import { OperatorError, SettingError } from './lib/operator-error.ts';
import { readCommandLine } from './start/command-line.ts';

/** Exit codes of sysexits.h: what a supervisor can tell apart. */
const EXIT_USAGE = 64;
const EXIT_FAILED = 70;
const EXIT_CONFIG = 78;
const PARENT_CHECK_MS = 250;

async function main(): Promise<number> {
  const asked = readCommandLine(process.argv.slice(2));
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
