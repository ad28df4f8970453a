import type { Columns } from '../terminal/output.ts';
import type { OperationId } from './operations.ts';

/** A command that calls one operation. What the OpenAPI document says of that becomes its options. */
export interface ApiCommand extends Addition {
  name: string;
  operation: OperationId;
  summary: string;
}

/** What a command has besides what the document says. */
export interface Addition {
  summary?: string;
  /** More, for --help. */
  help?: string;
  /** Parameters of the path that are given by position, if not those that the rule says. */
  arguments?: readonly string[];
  /** Makes it a list: a table with these columns. */
  columns?: Columns;
  /** The field of the answer that is the list; by default `results`. */
  rows?: string;
  /** Options that stand for parts deep in the body. */
  parts?: Readonly<Record<string, Part>>;
  /** What is in the body unless an option says otherwise. */
  body?: Readonly<Record<string, unknown>>;
  /** What is in the body, whatever is given. */
  fixed?: Readonly<Record<string, unknown>>;
  /** Parameters and fields that have no option, since the command has a better way to say them. */
  without?: readonly string[];
  /** The field of the answer that is all that people are shown, so that it can go into a file. */
  only?: string;
}

export interface Part {
  /** Where it is in the body. */
  at: readonly string[];
  text: string;
  value: string;
  /** As of a field; by default a string. */
  type?: string;
  default?: unknown;
  /** Whether the account of the token is the default. */
  ownClient?: true;
}
