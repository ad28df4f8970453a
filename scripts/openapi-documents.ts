import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { buildApp } from '../src/app.ts';
import type { Backends } from '../src/backends/backends.ts';
import { buildPlatform } from '../src/build-platform.ts';
import { loadCatalog } from '../src/cloud/ground/catalog/service.ts';
import { loadConfig } from '../src/config.ts';
import type { Database } from '../src/db/database.ts';
import type { OpenApiDocument } from '../src/http/openapi-document.ts';
import { systemClock } from '../src/lib/time.ts';
import type { Platform } from '../src/platform.ts';
import type { Secrets } from '../src/secrets/secrets.ts';

const FOLDER = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../openapi');

export interface DocumentFile {
  file: string;
  document: OpenApiDocument;
  /** The contents of the file when it is up to date. */
  text: string;
}

/**
 * Returns the OpenAPI documents of both base addresses, from the routes alone: without a database or network.
 */
export async function openApiDocuments(): Promise<DocumentFile[]> {
  const log = pino({ level: 'silent' });
  const on = buildPlatform({
    database: unused<Database>('database'),
    changes: { connected: () => false, on: () => {}, close: async () => {} },
    catalog: await loadCatalog(loadConfig({}).catalogDir),
    clock: systemClock,
    log,
    backends: unused<Backends>('backends'),
    secrets: unused<Secrets>('secrets'),
    letterhead: unused<Platform['letterhead']>('letterhead'),
    media: unused<Platform['media']>('media'),
    inspection: unused<Platform['inspection']>('inspection'),
  });
  const app = await buildApp({
    on,
    log,
    readiness: { check: async () => ({ role: '', catalog: '', problems: {}, degraded: {} }) },
    rateLimit: 0,
    strict: false,
    console: false,
    trustedProxies: [],
  });
  const read = async (url: string, name: string): Promise<DocumentFile> => {
    const { statusCode, body } = await app.inject({ url });
    if (statusCode !== 200) throw new Error(`${url} answered ${statusCode}: ${body}`);
    const document = JSON.parse(body) as OpenApiDocument;
    return { file: path.join(FOLDER, name), document, text: `${JSON.stringify(document, null, 2)}\n` };
  };
  try {
    return [await read('/openapi.json', 'openapi.json'), await read('/gcore/openapi.json', 'gcore.json')];
  } finally {
    await app.close();
  }
}

/** Stands in for dependencies of the services that no document needs. */
function unused<T extends object>(name: string): T {
  return new Proxy({} as T, {
    get(_target, property) {
      throw new Error(`The ${name} was asked for ${String(property)}, which describing the API must not need`);
    },
  });
}
