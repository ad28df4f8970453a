import { existsSync } from 'node:fs';
import fs from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import { NotFoundError } from '../lib/errors.ts';
import { dialects } from './dialect.ts';
import { fixedDocument } from './fixed-documents.ts';

const page = (prefix: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tradewind API</title>
<link rel="icon" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<noscript>This page needs JavaScript. The same as data: <a href="${prefix}/openapi.json">${prefix}/openapi.json</a>.</noscript>
<div id="reference"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/swagger-ui-standalone-preset.js"></script>
<script src="${prefix}/docs/reference.js"></script>
</body>
</html>
`;

const documents = dialects.map(({ prefix, name }) => ({
  prefix,
  url: `${prefix}/openapi.json`,
  name: name === 'specification' ? 'Base address /' : `Base address ${prefix} (official clients)`,
}));

// Without validatorUrl, the page would send the document to a third party's validator.
const script = (shownFirst: string) => `SwaggerUIBundle({
  dom_id: '#reference',
  urls: ${JSON.stringify(documents.map(({ url, name }) => ({ url, name })))},
  'urls.primaryName': ${JSON.stringify(shownFirst)},
  presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
  layout: 'StandaloneLayout',
  validatorUrl: null,
  deepLinking: true,
  docExpansion: 'none',
  filter: true,
  displayRequestDuration: true,
  persistAuthorization: false,
  defaultModelsExpandDepth: 0,
  defaultModelExpandDepth: 3,
  showExtensions: false,
});
`;

const SCRIPT_TYPE = 'text/javascript; charset=utf-8';
const TYPES: Record<string, string> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': SCRIPT_TYPE,
  'swagger-ui-standalone-preset.js': SCRIPT_TYPE,
  'favicon-32x32.png': 'image/png',
};

/** Loads nothing from elsewhere and sends nothing elsewhere. Swagger UI sets styles from its script. */
const POLICY =
  "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/**
 * Serves a page to read and try the API at `/docs` and `/gcore/docs`: both show both base addresses, each its
 * own first. Works offline. Uses the files of @fastify/swagger-ui but not its plugin, which costs about 25 ms
 * of every start and whose policy turns plain HTTP into HTTPS.
 */
export function referencePage(app: FastifyInstance): void {
  const files = new Map<string, Promise<ReturnType<typeof fixedDocument>>>();
  const config = { access: 'public' } as const;
  const schema = { hide: true };

  for (const { prefix, name } of documents) {
    const docs = `${prefix}/docs`;
    for (const url of new Set([prefix, `${prefix}/`, `${docs}/`])) {
      if (url !== '') app.get(url, { config, schema }, (_request, reply) => void reply.redirect(docs));
    }
    const sendPage = fixedDocument('text/html; charset=utf-8', page(prefix));
    app.get(docs, { config, schema }, (request, reply) =>
      sendPage(request, reply.header('content-security-policy', POLICY)),
    );
    app.get(`${docs}/reference.js`, { config, schema }, fixedDocument(SCRIPT_TYPE, script(name)));
  }
  app.get<{ Params: { file: string } }>('/docs/:file', { config, schema }, async (request, reply) => {
    const { file } = request.params;
    const type = Object.hasOwn(TYPES, file) ? TYPES[file] : undefined;
    if (type === undefined) throw new NotFoundError('Path', `/docs/${file}`);
    const send = files.get(file) ?? read(file, type);
    files.set(file, send);
    return (await send)(request, reply.header('cache-control', 'max-age=3600'));
  });
}

async function read(file: string, type: string) {
  return fixedDocument(type, await fs.readFile(path.join(assets(), file)));
}

/** The build puts them beside the bundle. */
function assets(): string {
  const built = fileURLToPath(new URL('reference-page', import.meta.url));
  if (existsSync(built)) return built;
  const plugin = createRequire(import.meta.url).resolve('@fastify/swagger-ui');
  return path.join(path.dirname(plugin), 'static');
}
