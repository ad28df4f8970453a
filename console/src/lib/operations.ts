import { useQuery } from '@tanstack/react-query';
import { bodyText } from '../worker/messages.ts';
import * as hub from './hub.ts';

/** A schema of the API's document, as far as forms read it. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  title?: string;
  description?: string;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  examples?: unknown[];
  format?: string;
  readOnly?: boolean;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  oneOf?: Schema[];
  anyOf?: Schema[];
  allOf?: Schema[];
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description: string | undefined;
  schema: Schema;
}

/** An operation of the API, with what it takes. */
export interface Operation {
  id: string;
  method: string;
  path: string;
  summary: string;
  description: string | undefined;
  tag: string;
  deprecated: boolean;
  parameters: readonly Parameter[];
  body: Schema | undefined;
}

interface Document {
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, Schema> };
}
interface Described {
  operationId: string;
  summary?: string;
  description?: string;
  tags?: string[];
  deprecated?: boolean;
  parameters?: (Omit<Parameter, 'required' | 'description'> & { required?: boolean; description?: string })[];
  requestBody?: { content: Record<string, { schema: Schema }> };
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

export interface Catalog {
  operations: readonly Operation[];
  /** Follows references. */
  resolve(schema: Schema): Schema;
}

/** Reads what the API can do from its own document. */
async function readOperations(): Promise<Catalog> {
  const answer = await hub.call({ method: 'GET', path: '/openapi.json' });
  const document = JSON.parse(await bodyText(answer)) as Document;
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    METHODS.flatMap((method): Operation[] => {
      const found = methods[method];
      return found ? [operationOf(path, method, found)] : [];
    }),
  );
  const resolve = (schema: Schema): Schema => {
    const name = schema.$ref?.split('/').at(-1);
    const named = name === undefined ? undefined : document.components.schemas[name];
    return named
      ? { ...resolve(named), ...(schema.description !== undefined && { description: schema.description }) }
      : schema;
  };
  return { operations, resolve };
}

function operationOf(path: string, method: string, found: Described): Operation {
  const {
    operationId,
    summary = operationId,
    description,
    tags = [],
    deprecated = false,
    parameters = [],
    requestBody,
  } = found;
  return {
    id: operationId,
    method: method.toUpperCase(),
    path,
    summary,
    description,
    tag: tags[0] ?? 'Others',
    deprecated,
    // The others are headers of all operations, to which the document only refers.
    parameters: parameters
      .filter(({ schema }) => schema !== undefined)
      .map(({ required = false, description, ...rest }) => ({ ...rest, required, description })),
    body: requestBody?.content['application/json']?.schema,
  };
}

export const useCatalog = (enabled = true) =>
  useQuery({ queryKey: ['operations'], queryFn: readOperations, staleTime: 'static', enabled });

/** Returns the path with its parameters filled in and the query behind it, which repeats a parameter for each entry of a list. Parameters without a value stay as they are written. */
export function addressOf({ path, parameters }: Operation, values: Readonly<Record<string, unknown>>): string {
  const filled = path.replaceAll(/\{([^}]+)\}/g, (whole, name: string) => {
    const texts = textsOf(values[name]);
    return texts.length === 0 ? whole : encodeURIComponent(texts.join(','));
  });
  const query = parameters.flatMap(({ name, in: where }) =>
    where === 'query' ? textsOf(values[name]).map((text): [string, string] => [name, text]) : [],
  );
  return query.length === 0 ? filled : `${filled}?${new URLSearchParams(query)}`;
}

/** What is entered for a parameter: one text, or one for each entry of a list. */
const textsOf = (value: unknown): string[] =>
  [value]
    .flat()
    .filter((one) => one !== undefined && one !== null && one !== '')
    .map((one) => (typeof one === 'string' ? one : JSON.stringify(one)));
