import type { FastifyInstance } from 'fastify';
import type { Versioned } from '../lib/versioned.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * The resource at this address. Reads return its version as `ETag`; changes of it, and of anything below it, may
     * name a version in `If-Match`. One route of each address declares this, usually the one that reads it.
     */
    versioned?: Versioned;
  }
  interface FastifyInstance {
    /** Returns the resource at a route's address, or else the nearest one above it. */
    versionedAt(route: string): Versioned | undefined;
  }
}

export function knowVersionedRoutes(app: FastifyInstance): void {
  const resources = new Map<string, Versioned>();
  app.addHook('onRoute', ({ url, config }) => {
    if (config?.versioned) resources.set(named(url).join('/'), config.versioned);
  });
  app.decorate('versionedAt', (route) => {
    for (const parts = named(route); parts.length > 0; parts.pop()) {
      const found = resources.get(parts.join('/'));
      if (found) return found;
    }
    return undefined;
  });
}

/** Splits a route into parts. The pattern in brackets after a parameter is not part of its name. */
function named(route: string): string[] {
  return route.split('/').map((part) => part.split('(', 1)[0] ?? '');
}
