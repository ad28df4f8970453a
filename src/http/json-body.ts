import type { FastifyInstance } from 'fastify';
import { InvalidError } from '../lib/errors.ts';
import { holdsMoreValues, repeatedName } from './json-scan.ts';
import { textProblem } from './text-guard.ts';
import { shortened } from './validation-texts.ts';

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
