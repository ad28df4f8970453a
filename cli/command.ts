import type { Api } from './api/client.ts';
import type { Output } from './terminal/output.ts';
import type { Terminal } from './terminal/terminal.ts';

/** A command that asks a server. */
export interface ClientCommand {
  /** Its words, such as `webhook list`. */
  name: string;
  summary: string;
  /** More, for --help. */
  help?: string | undefined;
  arguments: readonly Argument[];
  options: readonly Option[];
  /** Whether it needs no token. */
  anonymous?: boolean | undefined;
  run(context: Context): Promise<void>;
}

export interface Argument {
  name: string;
  text: string;
}

export interface Option {
  /** Without dashes. */
  name: string;
  /** What stands for the value in --help; without it, the option has none. */
  value?: string;
  text: string;
  /** May be given again for another value. */
  many?: boolean;
  /** The only values. */
  values?: readonly string[];
  required?: boolean;
  /** Turns the text of the value into the value, or throws a UsageError. */
  read?(text: string): unknown;
}

export type Values = Readonly<Record<string, unknown>>;

/** The text that was given for an argument or option. */
export function textIn(values: Values, name: string): string | undefined {
  const value = values[name];
  return typeof value === 'string' ? value : undefined;
}

export interface Context {
  api: Api;
  /** By the name of the argument or option, those that were given. */
  values: Values;
  terminal: Terminal;
  output: Output;
}
