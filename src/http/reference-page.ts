import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import fs from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { negotiate } from '@fastify/accept-negotiator';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { NotFoundError } from '../lib/errors.ts';
import { dialects } from './dialect.ts';

type Encoding = 'br' | 'gzip';

/** The best comes first. They work in threads of their own. */
const ENCODINGS: Encoding[] = ['br', 'gzip'];
const COMPRESS: Record<Encoding, (content: Buffer) => Promise<Buffer>> = {
  // The highest quality takes 30 times as long and saves 8 % more.
  br: (content) => promisify(brotliCompress)(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: promisify(gzip),
};
/** Less fits into one packet anyway. */
const LEAST_COMPRESSED = 1_400;

/**
 * Returns a handler that answers with what stays the same while the process runs. It is compressed once. Answers that
 * hold what belongs to an account aren't compressed: their length would tell a listener what is in them.
 */
export function fixedDocument(type: string, content: string | Buffer) {
  const plain = Buffer.from(content);
  const version = hash('sha256', plain, 'base64url').slice(0, 22);
  const compressed = new Map<Encoding, Promise<Buffer>>();

  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const encoding = plain.length < LEAST_COMPRESSED ? undefined : acceptedEncoding(request);
    const tag = encoding === undefined ? version : `${version}-${encoding}`;
    void reply.header('vary', 'accept-encoding').header('etag', `"${tag}"`);
    if (isKnown(request.headers['if-none-match'], tag)) return reply.code(304).send();
    void reply.type(type);
    if (encoding === undefined) return reply.send(plain);
    const made = compressed.get(encoding) ?? COMPRESS[encoding](plain);
    compressed.set(encoding, made);
    return reply.header('content-encoding', encoding).send(await made);
  };
}

function acceptedEncoding({ headers }: FastifyRequest): Encoding | undefined {
  const given = headers['accept-encoding'];
  return typeof given === 'string' ? (negotiate(given, ENCODINGS) ?? undefined) : undefined;
}

/** Whether the client has this version, in this encoding. */
function isKnown(noneOf: string | undefined, tag: string): boolean {
  const tags = noneOf?.split(',').map((one) => one.trim().replace(/^W\//, ''));
  return tags?.some((one) => one === '*' || one === `"${tag}"`) ?? false;
}

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
export function referencePage(app: FastifyInstance, { console }: { console: boolean }): void {
  const files = new Map<string, Promise<ReturnType<typeof fixedDocument>>>();
  const config = { access: 'public' } as const;
  const schema = { hide: true };

  for (const { prefix, name } of documents) {
    const docs = `${prefix}/docs`;
    for (const url of new Set([prefix, `${prefix}/`, `${docs}/`])) {
      if (url === '') continue;
      const home = (request: FastifyRequest) => (console && url === '/' && isPerson(request) ? '/console/' : docs);
      app.get(url, { config, schema }, (request, reply) => void reply.header('vary', 'accept').redirect(home(request)));
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

/** Browsers ask for pages by name; programs take what comes. */
const isPerson = ({ headers }: FastifyRequest): boolean => headers.accept?.includes('text/html') ?? false;

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
