import type { FastifyInstance } from 'fastify';
import type { Versioned } from '../lib/versioned.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * The resource at this address: reads of it answer its version as `ETag`, and changes of it and of what lies below
     * can be made to one version (`If-Match`). Said by one route of each address, mostly the one that reads it.
     */
    versioned?: Versioned;
  }
  interface FastifyInstance {
    /** The resource that the address of a route names, or the nearest that it lies below. */
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

/** In brackets stands what a parameter may not be, which is no part of its name. */
function named(route: string): string[] {
  return route.split('/').map((part) => part.split('(', 1)[0] ?? '');
}
