import findMyWay from 'find-my-way';
import { faultOf } from './documented-answers.ts';
import type { HttpClient } from './http-client.ts';
import type { DocumentedOperation } from './openapi.ts';

export interface Coverage {
  /** Returns a client that records every call. */
  recording(http: HttpClient): HttpClient;
  /** Returns operations without a successful call, by title. */
  missing(): string[];
  /** Returns answers that differ from the document. */
  undocumented(): string[];
}

/** Finds the documented operation of a request. */
export function createOperationFinder(operations: DocumentedOperation[]) {
  const router = findMyWay<findMyWay.HTTPVersion.V1>({ maxParamLength: 500 });
  for (const of of operations) {
    const url = of.prefix + of.path.replaceAll(/\{([^}]+)\}/g, ':$1');
    router.on(of.method as findMyWay.HTTPMethod, url, () => {}, of);
  }
  return (method: string, path: string) =>
    router.find(method as findMyWay.HTTPMethod, path.split('?', 1)[0] ?? '')?.store as DocumentedOperation | undefined;
}

/**
 * Records which documented operations have succeeded in a run from outside, and whether their answers are as
 * documented.
 */
export function createCoverage(operations: DocumentedOperation[]): Coverage {
  const find = createOperationFinder(operations);
  const succeeded = new Set<string>();
  const wrong: string[] = [];

  return {
    recording(http) {
      const request: HttpClient['request'] = async (method, path, options) => {
        const answer = await http.request(method, path, options);
        const of = find(method, path);
        if (of) {
          if (answer.status < 300) succeeded.add(of.title);
          const fault = faultOf(of, answer);
          if (fault !== undefined) wrong.push(fault);
        }
        return answer;
      };
      return {
        ...http,
        request,
        get: (path) => request('GET', path),
        post: (path, body) => request('POST', path, { body }),
        patch: (path, body) => request('PATCH', path, { body }),
        put: (path, body) => request('PUT', path, { body }),
        delete: (path) => request('DELETE', path),
      };
    },
    missing: () => operations.map(({ title }) => title).filter((title) => !succeeded.has(title)),
    undocumented: () => wrong,
  };
}
