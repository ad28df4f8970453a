import type { FastifyInstance } from 'fastify';
import { type FieldProblem, InvalidError } from '../lib/errors.ts';
import { shortened } from './validation-texts.ts';

/* What `JSON.parse` doesn't tell of a text, found in one pass. */

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const BRACKET = 0x5b;
const BRACE = 0x7b;
const BRACKET_END = 0x5d;
const BRACE_END = 0x7d;

/**
 * Whether a JSON text contains more than `limit` values, without parsing it: from one mebibyte of brackets,
 * `JSON.parse` would make half a million arrays, and everything after it would process each. Counts commas
 * and opening brackets, so an empty list or object counts twice.
 */
export function holdsMoreValues(text: string, limit: number): boolean {
  let values = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at);
        break;
      case COMMA:
      case BRACKET:
      case BRACE:
        if (++values > limit) return true;
    }
  }
  return false;
}

/**
 * Returns the path of the first name that an object of a valid JSON text has twice. `JSON.parse` keeps the last value,
 * other programs the first one, so that what was checked on the way might not be what is done (RFC 8259, 4).
 */
export function repeatedName(text: string): string | undefined {
  const open: { names: Set<string> | undefined; at: string | number }[] = [];
  let isName = false;
  for (let at = 0; at < text.length; at++) {
    const inner = open.at(-1);
    switch (text.charCodeAt(at)) {
      case BRACE:
        open.push({ names: new Set(), at: '' });
        isName = true;
        break;
      case BRACKET:
        open.push({ names: undefined, at: 0 });
        isName = false;
        break;
      case BRACE_END:
      case BRACKET_END:
        open.pop();
        isName = false;
        break;
      case COMMA:
        isName = inner?.names !== undefined;
        if (typeof inner?.at === 'number') inner.at++;
        break;
      case QUOTE: {
        const end = endOfString(text, at);
        if (isName && inner?.names) {
          const name: string = JSON.parse(text.slice(at, end + 1));
          inner.at = name;
          if (inner.names.has(name)) return open.map((one) => one.at).join('.');
          inner.names.add(name);
          isName = false;
        }
        at = end;
      }
    }
  }
  return undefined;
}

/**
 * Returns the position of the closing quote of the string that begins at `start`, or the end of the text if
 * there is none.
 */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end;
    while (text.charCodeAt(before - 1) === BACKSLASH) before--;
    if ((end - before) % 2 === 0) return end;
  }
  return text.length;
}

const MAX_DEPTH = 32;

/**
 * Finds what no field may contain: text that the database can't store (NUL, half a surrogate pair), nesting
 * so deep that only an attack needs it, and names that every JavaScript object has. Only called with few
 * values.
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
  if (name === 'constructor' && typeof child === 'object' && child !== null && Object.hasOwn(child, 'prototype')) {
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
