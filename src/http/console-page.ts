import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { NotFoundError } from '../lib/errors.ts';
import { fixedDocument } from './reference-page.ts';

/**
 * Nothing comes from elsewhere or goes there, and no script is made from text. The name in `trusted-types` is that of the policy by which the
 * page starts its worker.
 */
const POLICY = [
  "default-src 'none'",
  ...['script-src', 'style-src', 'font-src', 'connect-src', 'worker-src', 'manifest-src'].map((one) => `${one} 'self'`),
  ...['img-src', 'media-src'].map((one) => `${one} 'self' blob:`),
  ...['base-uri', 'form-action', 'frame-ancestors'].map((one) => `${one} 'none'`),
  "require-trusted-types-for 'script'",
  'trusted-types tradewind',
].join('; ');

const HEADERS = {
  'content-security-policy': POLICY,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

const TYPES: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const config = { access: 'public', uncounted: true } as const;
// The page reads the query by itself.
const schema = { hide: true, querystring: {} };
/** The pages that mailed links lead to, below the public address. */
const LINKS = ['accept-invitation', 'reset-password', 'confirm-deletion', 'notification-settings'];

/** Serves the console under `/console/`: its files, and for all other paths the page, which finds its way by itself. */
export function consolePage(app: FastifyInstance): void {
  const fileAt = filesOf(app, 'assets', '/console/assets');
  app.get('/console', { config, schema }, (_request, reply) => void reply.redirect('/console/'));
  for (const url of ['/console/', '/console/*']) app.get(url, { config, schema }, fileAt('index.html'));
}

/** Serves the page of mailed links, which finds out from its token what it is for. Says there whether the `console` is served. */
export function linkPages(app: FastifyInstance, { console }: { console: boolean }): void {
  const fileAt = filesOf(app, 'links', '/links');
  const page = fileAt('links/page.html', (text) =>
    text.replace('<html ', `<html data-console="${console ? 'on' : 'off'}" `),
  );
  for (const name of LINKS) app.get(`/${name}`, { config, schema }, page);
}

/** Serves a folder of the built console, whose names have a hash of what is in them. Returns how to serve a page. */
function filesOf(app: FastifyInstance, name: string, url: string) {
  const [folder = ''] = ['../console', '../../dist/console']
    .map((place) => fileURLToPath(new URL(place, import.meta.url)))
    .filter((place) => fs.existsSync(place));
  const known = new Map<string, ReturnType<typeof fixedDocument>>();

  /** @throws NotFoundError */
  function document(file: string, fill?: (text: string) => string): ReturnType<typeof fixedDocument> {
    const found = known.get(file);
    if (found) return found;
    const type = TYPES[path.extname(file)] ?? 'text/html; charset=utf-8';
    const content = read(folder, file);
    const made = fixedDocument(type, fill ? fill(content.toString()) : content);
    known.set(file, made);
    return made;
  }

  app.get<{ Params: { file: string } }>(`${url}/:file`, { config, schema }, (request, reply) =>
    document(`${name}/${path.basename(request.params.file)}`)(
      request,
      safe(request, reply).header('cache-control', 'public, max-age=31536000, immutable'),
    ),
  );
  return (file: string, fill?: (text: string) => string) => (request: FastifyRequest, reply: FastifyReply) =>
    document(file, fill)(request, safe(request, reply).header('cache-control', 'no-cache'));
}

/** Browsers complain about an opener policy on a page that doesn't come over TLS. */
const safe = ({ protocol }: FastifyRequest, reply: FastifyReply): FastifyReply =>
  reply.headers({ ...HEADERS, ...(protocol === 'https' && { 'cross-origin-opener-policy': 'same-origin' }) });

/** @throws NotFoundError */
function read(folder: string, name: string): Buffer {
  try {
    return fs.readFileSync(path.join(folder, name));
  } catch {
    throw new NotFoundError('Path', `/console/${name}`);
  }
}
