import type { ParseArgsConfig } from 'node:util';
import type { Config } from '../config.ts';

export type Options = Record<string, string | boolean | undefined>;

export interface CommandContext {
  config: Config;
  options: Options;
  /** Aborted when the process is told to stop. */
  stop: AbortSignal;
}

export interface Command {
  summary: string;
  /** The options, one per line. */
  help: string;
  options: NonNullable<ParseArgsConfig['options']>;
  /** The name of the one word that it needs besides, which is among its options then. */
  argument?: string;
  /** Whether it has an answer that --json prints. */
  json?: true;
  /** Whether a server can be asked for the same, with a token. */
  asksServer?: true;
  /** Returns the exit code. */
  run(context: CommandContext): Promise<number>;
}

/** How a command on this machine ends; docs/cli.md lists them. */
export const EXIT_REFUSED = 1;
export const EXIT_USAGE = 2;

/** The role of a process: the API, work on tasks, or both. */
export type Role = 'all' | 'api' | 'worker';
