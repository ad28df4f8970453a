import type { ParseArgsConfig } from 'node:util';
import type { Config } from '../config.ts';

export type Options = Record<string, string | boolean | undefined>;

interface CommandContext {
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
  /** Returns the exit code. */
  run(context: CommandContext): Promise<number>;
}
