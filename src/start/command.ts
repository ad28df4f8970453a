import type { ParseArgsConfig } from 'node:util';
import type { Config } from '../config.ts';

interface CommandContext {
  config: Config;
  options: Record<string, string | boolean | undefined>;
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
