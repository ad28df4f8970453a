/** The parts of an OpenAPI 3.1 document that our own code reads or writes. */
export interface OpenApiDocument {
  openapi: string;
  info: object;
  servers: { url: string }[];
  tags?: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, object>;
    responses?: Record<string, object>;
    parameters?: Record<string, Parameter>;
  };
}

export interface Operation {
  operationId: string;
  summary: string;
  tags: string[];
  /** An empty list means that anybody may call it. */
  security?: object[];
  deprecated?: boolean;
  parameters?: (Parameter | { $ref: string })[];
  requestBody?: { required?: boolean; content: Record<string, MediaType> };
  responses: Record<string, { $ref?: string; headers?: Record<string, object>; content?: Record<string, object> }>;
}

interface MediaType {
  schema: object;
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  example?: unknown;
  schema: Record<string, unknown>;
}

export function mapOperations(
  { paths }: OpenApiDocument,
  change: (operation: Operation, method: string, path: string) => Operation,
): OpenApiDocument['paths'] {
  const changed = ([path, operations]: [string, Record<string, Operation>]) => [
    path,
    Object.fromEntries(Object.entries(operations).map(([method, one]) => [method, change(one, method, path)])),
  ];
  return Object.fromEntries(Object.entries(paths).map(changed));
}
