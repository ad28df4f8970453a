import { TOKEN } from './product.ts';

/** Calls the product's API with JSON, to prepare a measurement; as the platform administrator, unless another token is given. */
export interface Api {
  /** @throws Error unless the answer is 2xx */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<unknown>;
}

export function createApi(port: number, token = TOKEN): Api {
  return {
    async call(method, path, body, headers = {}) {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, {
        method,
        headers: {
          authorization: `apikey ${token}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text.slice(0, 300)}`);
      return text === '' ? undefined : JSON.parse(text);
    },
  };
}
