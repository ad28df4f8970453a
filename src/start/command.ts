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
  /** The options, a line each. */
  help: string;
  options: NonNullable<ParseArgsConfig['options']>;
  /** Answers the exit code. */
  run(context: CommandContext): Promise<number>;
}
