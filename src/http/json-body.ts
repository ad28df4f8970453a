import type { FastifyInstance } from 'fastify';
import { InvalidError } from '../lib/errors.ts';
import { textProblem } from './text-guard.ts';

/** The body isn't JSON: 400, in the account area with a body of its own form. */
export class MalformedJsonError extends InvalidError {
  constructor(detail: string) {
    super({ body: [`is not valid JSON: ${detail}`] }, `JSON parse error - ${detail}`);
  }
}

/**
 * Reads `application/json` bodies. An empty body counts as none, since clients send the content type with
 * every request. Any other content type is answered 415 by the framework.
 */
export function acceptJson(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body.length === 0) return done(null, undefined);
    void parse(request, body, (error, value?: unknown) => {
      if (error) return done(new MalformedJsonError(whyUnreadable(body)));
      const problem = textProblem(value);
      if (problem) return done(new InvalidError([{ ...problem, field: problem.field || 'body' }]));
      done(null, value);
    });
  });
}

function whyUnreadable(body: string): string {
  try {
    JSON.parse(body);
    return 'a field is called __proto__ or constructor.prototype, which is not allowed';
  } catch (error) {
    return (error as Error).message;
  }
}
