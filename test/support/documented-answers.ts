import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { Answer } from './http-client.ts';
import type { DocumentedOperation } from './openapi.ts';

/** Compares answers with the document. Returns undefined, or what is wrong. */
export function createAnswerCheck(operations: DocumentedOperation[]) {
  const ajv = new Ajv2020({ strict: false, allErrors: true, discriminator: true });
  addFormats.default(ajv);
  for (const { prefix, document } of operations) {
    const name = nameOf(prefix);
    if (!ajv.getSchema(name)) ajv.addSchema(document, name);
  }
  const checks = new Map<string, ValidateFunction>();

  return (of: DocumentedOperation, answer: Answer): string | undefined => {
    const { method, path, prefix, operation } = of;
    const response = operation.responses[String(answer.status)];
    if (!response) return `${of.title} documents no ${answer.status}: ${answer.text}`;
    const header = wrongHeader(response, answer);
    if (header !== undefined) return `${of.title} ${header}`;
    if (answer.status === 204 || !(response.content || response.$ref)) {
      return answer.text === '' ? undefined : `${of.title} sends a body with ${answer.status}`;
    }
    const types = Object.keys(response.content ?? {});
    if (types.length > 0 && !types.includes('application/json')) {
      const sent = typeOf(answer);
      return types.includes(sent) ? undefined : `${of.title} documents no ${sent}`;
    }
    const own = `#/paths/${path.replaceAll('/', '~1')}/${method.toLowerCase()}/responses/${answer.status}`;
    const $ref = `${nameOf(prefix)}${response.$ref ?? own}/content/application~1json/schema`;
    const check = checks.get($ref) ?? ajv.compile({ $ref });
    checks.set($ref, check);
    return check(answer.body) ? undefined : `${of.title} ${ajv.errorsText(check.errors)}: ${answer.text}`;
  };
}

const nameOf = (prefix: string) => `document${prefix.replace('/', '-')}`;

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
