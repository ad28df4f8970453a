import fs from 'node:fs';
import type index from './commands.json';

/** A parameter, or a field of a body. */
export interface Field {
  name: string;
  /** `string`, `integer`, `number` or `boolean`; `json` for what has parts. Of each one where there may be many. */
  type: string;
  many?: boolean;
  values?: string[];
  required?: boolean;
  max?: number;
  text: string;
  /** Its option, if that isn't its name. */
  option?: string;
  /** The list in which it is the ID of a row, the field by which people know that row, and whether the list filters by it. */
  listed?: { by: OperationId; label: string; filter?: boolean };
}

/** What the OpenAPI document says of an operation. */
export interface Operation {
  method: string;
  /** With its parameters in braces. */
  path: string;
  parameters: Field[];
  /** Parameters of the path that are given by position; options name the others. */
  arguments: string[];
  query: Field[];
  body?: Field[];
  /** Whether it changes something, so that it can be tried out. */
  changes: boolean;
  /** Whether it needs no token. */
  anonymous?: true;
  /** Whether the answer can be CSV, or PDF. */
  csv?: true;
  pdf?: true;
  /** Whether the answer names tasks, for which --wait waits. */
  tasks?: true;
  /** What shows the thing that the tasks made or changed. */
  shown?: OperationId;
  /** The field of the answer that is a list, or nothing if that is the answer itself. */
  rows?: string;
  /** The fields of rows that a table has. */
  columns?: string[];
  /** A command line. */
  example?: string;
}

export type OperationId = keyof typeof index;

let known: Record<OperationId, Operation> | undefined;

/** Reads the file when a command needs it: the help of all commands doesn't. */
export function operationOf(id: OperationId): Operation {
  known ??= JSON.parse(fs.readFileSync(new URL('./operations.json', import.meta.url), 'utf8')) as typeof known & object;
  return known[id];
}
