import known from './operations.json' with { type: 'json' };

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
}

/** What the OpenAPI document says of an operation. */
export interface Operation {
  method: string;
  /** With its parameters in braces. */
  path: string;
  summary: string;
  parameters: Field[];
  query: Field[];
  body?: Field[];
  /** Whether it changes something, so that it can be tried out. */
  changes: boolean;
}

export type OperationId = keyof typeof known;

export function operationOf(id: OperationId): Operation {
  return (known as Record<OperationId, Operation>)[id];
}
