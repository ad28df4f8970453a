import type { FastifyInstance } from 'fastify';
import { type FieldProblem, InvalidError } from '../lib/errors.ts';
import { holdsMoreValues, repeatedName } from './json-scan.ts';
import { shortened } from './validation-texts.ts';

const MAX_DEPTH = 32;

/**
 * Finds what no field may contain: text that the database can't store (NUL, half a surrogate pair), nesting
 * so deep that only an attack needs it, and names that every JavaScript object has. Only called with few
 * values; see json-size.ts.
 */
export function textProblem(value: unknown): FieldProblem | undefined {
  const fault = faultIn(value, 0);
  return fault && { field: fault.path.reverse().join('.'), message: fault.message };
}

interface Fault {
  /** From the innermost part outwards. */
  path: string[];
  message: string;
}

function faultIn(value: unknown, depth: number): Fault | undefined {
  if (typeof value === 'string') return faultAt(textFault(value));
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth === MAX_DEPTH) return faultAt(`is nested more than ${MAX_DEPTH} levels deep`);
  for (const [name, child] of Object.entries(value)) {
    const fault = faultAt(nameFault(name, child)) ?? within(name, faultIn(child, depth + 1));
    if (fault) return fault;
  }
  return undefined;
}

function faultAt(message: string | undefined): Fault | undefined {
  return message === undefined ? undefined : { path: [], message };
}

function within(name: string, fault: Fault | undefined): Fault | undefined {
  fault?.path.push(name);
  return fault;
}

function nameFault(name: string, child: unknown): string | undefined {
  if (name === '__proto__') return 'has a field called __proto__, which is not allowed';
  if (
    name === 'constructor' &&
    typeof child === 'object' &&
    child !== null &&
    Object.hasOwn(child, 'prototype')
  ) {
    return 'has a field called constructor.prototype, which is not allowed';
  }
  const fault = textFault(name);
  return fault && `has a name that ${fault}`;
}

function textFault(text: string): string | undefined {
  if (text.includes('\0')) return 'contains the character NUL, which is not allowed';
  return text.isWellFormed() ? undefined : 'contains half of a surrogate pair, which is not valid text';
}

/** More than any request needs: a security group has 250 rules, a cluster 50 pools. */
const MAX_VALUES = 10_000;

/** The body isn't JSON: 400, with a different body in the account area. */
export class MalformedJsonError extends InvalidError {
  constructor(detail: string) {
    super({ body: [`is not valid JSON: ${detail}`] }, `JSON parse error - ${detail}`);
  }
}

/**
 * Reads `application/json` bodies. An empty body counts as none, since clients send the content type with
 * every request. The framework answers any other content type with 415.
 */
export function acceptJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (_request, body, done) => {
    done(null, body.length === 0 ? undefined : read(body));
  });
}

/** @throws InvalidError */
function read(body: string): unknown {
  if (holdsMoreValues(body, MAX_VALUES)) {
    throw new InvalidError({
      body: [`Must hold at most ${MAX_VALUES} values.`],
    });
  }
  const value = parsed(body);
  const repeated = repeatedName(body);
  if (repeated !== undefined) {
    throw new InvalidError({
      [shortened(repeated)]: ['Is given more than once in the same object; send it once.'],
    });
  }
  const problem = textProblem(value);
  if (problem) throw new InvalidError([{ ...problem, field: shortened(problem.field) || 'body' }]);
  return value;
}

function parsed(body: string): unknown {
  try {
    // Some programs begin files with a byte order mark.
    return JSON.parse(body.startsWith('\ufeff') ? body.slice(1) : body);
  } catch (error) {
    throw new MalformedJsonError((error as Error).message);
  }
}
