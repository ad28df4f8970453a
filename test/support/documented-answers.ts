import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { OpenApiDocument } from '../../src/http/openapi-document.ts';
import type { Answer } from './http-client.ts';
import type { DocumentedOperation } from './openapi.ts';

type Check = (pointer: string) => ValidateFunction;
const checks = new WeakMap<OpenApiDocument, Check>();

/** Compares an answer with the document. Returns undefined, or what is wrong. */
export function faultOf(of: DocumentedOperation, answer: Answer): string | undefined {
  const { method, path, document, operation } = of;
  const response = operation.responses[String(answer.status)];
  if (!response) return `${of.title} documents no ${answer.status}: ${answer.text}`;
  const header = wrongHeader(response, answer);
  if (header !== undefined) return `${of.title} ${header}`;
  if (answer.status === 204 || !(response.content || response.$ref)) {
    return answer.text === '' ? undefined : `${of.title} sends a body with ${answer.status}`;
  }
  const types = Object.keys(contentOf(document, response));
  const json = types.find((type) => /[/+]json$/.test(type));
  if (types.length > 0 && json === undefined) {
    const sent = typeOf(answer);
    return types.includes(sent) ? undefined : `${of.title} documents no ${sent}`;
  }
  const own = `#/paths/${path.replaceAll('/', '~1')}/${method.toLowerCase()}/responses/${answer.status}`;
  const checkOf = checks.get(document) ?? createChecks(document);
  checks.set(document, checkOf);
  const check = checkOf(`${response.$ref ?? own}/content/${(json ?? 'application/json').replace('/', '~1')}/schema`);
  if (check(answer.body)) return undefined;
  const problems = check.errors?.map(({ instancePath, message }) => `${instancePath} ${message}`);
  return `${of.title} ${problems?.join(', ')}: ${answer.text}`;
}

function contentOf({ components }: OpenApiDocument, { $ref, content }: { $ref?: string; content?: object }) {
  if ($ref === undefined) return content ?? {};
  const named: { content?: object } = components.responses?.[$ref.split('/').at(-1) ?? ''] ?? {};
  return named.content ?? {};
}

/** Compiles what is asked for, once for all files of a process. */
function createChecks(document: OpenApiDocument): Check {
  // As in the product: optimizing takes longer than it saves.
  const code = { optimize: false };
  const ajv = new Ajv2020({ strict: false, allErrors: true, discriminator: true, code });
  addFormats.default(ajv);
  ajv.addSchema(document, 'document');
  const known = new Map<string, ValidateFunction>();
  return (pointer) => {
    const check = known.get(pointer) ?? ajv.compile({ $ref: `document${pointer}` });
    known.set(pointer, check);
    return check;
  };
}

function typeOf({ headers }: Answer): string {
  return headers.get('content-type')?.split(';', 1)[0] ?? 'nothing';
}

/** Finds a header that is documented as constant but has another value. */
function wrongHeader({ headers = {} }: { headers?: Record<string, unknown> }, answer: Answer) {
  const [wrong] = Object.entries(headers as Record<string, { schema: { const?: string } }>).filter(
    ([name, { schema }]) => schema.const !== undefined && answer.headers.get(name) !== schema.const,
  );
  return wrong && `sends no ${wrong[0]}: ${wrong[1].schema.const}`;
}
