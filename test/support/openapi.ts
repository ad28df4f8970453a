import { openApiDocuments } from '../../scripts/openapi-documents.ts';
import type { OpenApiDocument, Operation, Parameter } from '../../src/http/openapi-document.ts';

/** One operation under one base address, as that address's document describes it. */
export interface DocumentedOperation {
  /** '' or '/gcore' */
  prefix: string;
  /** In capitals. */
  method: string;
  /** As documented, without the prefix: `/cloud/v1/projects/{project_id}`. */
  path: string;
  /** Short and unique over both documents, for the names of tests. */
  title: string;
  operation: Operation;
  document: OpenApiDocument;
}

let documents: Promise<DocumentedOperation[]> | undefined;

/** Every operation of both documents, which are made once for all files of a process. */
export function documentedOperations(): Promise<DocumentedOperation[]> {
  documents ??= readOperations();
  return documents;
}

async function readOperations(): Promise<DocumentedOperation[]> {
  const files = await openApiDocuments();
  return files.flatMap(({ document }) => {
    const prefix = (document.servers[0]?.url ?? '/').replace(/\/$/, '');
    return Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, operation]) => ({
        prefix,
        method: method.toUpperCase(),
        path,
        title: `${method.toUpperCase()} ${prefix}${path}`,
        operation,
        document,
      })),
    );
  });
}

/** Operations that always refuse, with the status and a word of the reason. */
export const REFUSED: Readonly<Record<string, { status: number; because: string }>> = {
  subscribeToUserActionsByAmqp: { status: 400, because: 'AMQP' },
  getAiTaskMedia: { status: 422, because: 'public internet' },
  tryAmqp: { status: 400, because: 'AMQP' },
  getAmqpSubscription: { status: 404, because: 'AMQP' },
  // No month has ended.
  getInvoice: { status: 404, because: 'not found' },
  createCreditNote: { status: 404, because: 'not found' },
  createPayment: { status: 400, because: 'not found' },
  getIssuer: { status: 404, because: 'nobody has set' },
  getBillingProfile: { status: 404, because: 'nobody has set' },
  updateAmqpSubscription: { status: 404, because: 'AMQP' },
};
export const UNSUPPORTED: readonly string[] = Object.keys(REFUSED);

export function parametersIn(place: Parameter['in'], operation: Operation): Parameter[] {
  return (operation.parameters ?? []).flatMap((one) => ('in' in one && one.in === place ? [one] : []));
}

export function pathParameters({ operation }: DocumentedOperation): Parameter[] {
  return parametersIn('path', operation);
}

const SOME_UUID = '7f3f9a52-0a0e-4b0f-8f5a-3c8a2b6d1e90';

/**
 * Returns the path with its parameters filled in: the given values, else a value of the right type that names
 * nothing.
 */
/** Values of parameters by name. */
export type Values = Record<string, string | number>;

export function filledPath(of: DocumentedOperation, values: Values = {}): string {
  const filled = pathParameters(of).reduce((path, { name, schema }) => {
    const [only] = (schema.enum as string[] | undefined) ?? [];
    const value = values[name] ?? only ?? (schema.type === 'integer' ? 999_999 : SOME_UUID);
    return path.replace(`{${name}}`, encodeURIComponent(value));
  }, of.path);
  return of.prefix + filled;
}

/** Returns a query string with the required parameters, by default as in the documentation's examples. */
export function requiredQuery({ operation }: DocumentedOperation, values: Values = {}): string {
  const required = parametersIn('query', operation).filter((one) => one.required);
  const query = new URLSearchParams();
  for (const { name, example, schema } of required) {
    const [only] = (schema.enum as unknown[] | undefined) ?? [];
    query.append(name, String(values[name] ?? example ?? only));
  }
  return query.size === 0 ? '' : `?${query}`;
}

/** Returns the body that the documentation shows as an example. */
export function exampleBody({ operation }: DocumentedOperation): unknown {
  const media = operation.requestBody?.content['application/json'];
  return media?.example ?? Object.values(media?.examples ?? {})[0]?.value;
}
