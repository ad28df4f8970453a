import type { IncomingMessage } from 'node:http';
import * as oidc from 'openid-client';
import { ForbiddenError, UnavailableError } from '../../../lib/errors.ts';
import { type AllowedHosts, receiverProblem, requestOutside } from '../../../lib/outside-request.ts';
import type { Platform } from '../../../platform.ts';
import type { ProviderRow } from './store.ts';

/* What is said to identity providers. They are strangers' servers: an answer is small, comes soon, and may be a lie. */

const WITHIN_SECONDS = 8;
const MOST_BYTES = 512 * 1024;
/** Conversations of one process: a provider that never answers must not keep all others waiting. */
const MOST_TALKS = { ofProvider: 10, together: 100 };
const LOCAL_HOSTS = new Set(['localhost', '127.0.0.1', '[::1]']);

const isLocal = (url: URL): boolean => url.protocol === 'http:' && LOCAL_HOSTS.has(url.hostname);

/** Says why people can't be sent to an issuer, if so. Without TLS it must be on this machine, for tests. */
export function issuerProblem(issuer: string, allowed: AllowedHosts): string | undefined {
  const problem = receiverProblem(issuer, allowed);
  if (problem !== undefined) return problem;
  const url = new URL(issuer);
  if (url.search !== '' || url.hash !== '') return 'Must have no query and no fragment.';
  return url.protocol === 'https:' || isLocal(url) ? undefined : 'Must begin with https://.';
}

/** What a provider says of somebody. */
export interface Vouched {
  subject: string;
  email: string | undefined;
  emailVerified: boolean;
  name: string | undefined;
  groups: string[];
}

export interface Begun {
  /** What only the browser knows; the nonce and the verifier come from it. */
  nonce: string;
  verifier: string;
}

/** Returns the page of the provider that lets people in. @throws UnavailableError */
export async function pageOf(
  on: Platform,
  provider: ProviderRow,
  { nonce, verifier, state, redirectUri }: Begun & { state: string; redirectUri: string },
): Promise<string> {
  return talking(on, provider, async () => {
    const config = await configured(on, provider);
    const url = oidc.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      scope: [...new Set(['openid', ...provider.scopes])].join(' '),
      state,
      nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    if (url.protocol !== 'https:' && !isLocal(url)) throw new Error('The page of the provider is not on https');
    return url.href;
  });
}

/** Exchanges what the browser brought, and checks it. @throws ForbiddenError, UnavailableError */
export async function vouched(
  on: Platform,
  provider: ProviderRow,
  { nonce, verifier, state, answer }: Begun & { state: string; answer: URL },
): Promise<Vouched> {
  return talking(on, provider, async () => {
    const config = await configured(on, provider);
    const tokens = await oidc.authorizationCodeGrant(config, answer, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    if (!claims) throw new Error('There is no ID token');
    const needed = ['email', 'email_verified', provider.groups_claim];
    const isWhole = needed.every((claim) => claims[claim] !== undefined);
    const hasMore = !isWhole && config.serverMetadata().userinfo_endpoint !== undefined;
    const more = hasMore ? await oidc.fetchUserInfo(config, tokens.access_token, claims.sub) : {};
    const all: Record<string, unknown> = { ...more, ...claims };
    return {
      subject: claims.sub,
      email: text(all.email),
      emailVerified: all.email_verified === true,
      name: text(all.name),
      groups: [all[provider.groups_claim]].flat().filter((one): one is string => typeof one === 'string'),
    };
  });
}

const text = (claim: unknown): string | undefined => (typeof claim === 'string' && claim !== '' ? claim : undefined);

// oxlint-disable-next-line typescript/no-deprecated -- only to stand out: it is for an issuer on this machine, in tests
const overHttp: (config: oidc.Configuration) => void = oidc.allowInsecureRequests;

/** Asks the provider what it can do. */
async function configured(on: Platform, provider: ProviderRow): Promise<oidc.Configuration> {
  const issuer = new URL(provider.issuer);
  const insecure = isLocal(issuer);
  const ask = fetcher(on, insecure);
  const { oidc_client_id: clientId, oidc_client_secret: kept } = provider;
  const options = { execute: insecure ? [overHttp] : [], timeout: WITHIN_SECONDS, [oidc.customFetch]: ask };
  const discovered = await oidc.discovery(issuer, clientId, {}, oidc.None(), options);
  const server = discovered.serverMetadata();
  const secret =
    kept === null ? undefined : await on.secrets.open('identity_providers.oidc_client_secret', [provider.id], kept);
  const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const byHeader = methods.includes('client_secret_basic');
  const proof = byHeader ? oidc.ClientSecretBasic(secret) : oidc.ClientSecretPost(secret);
  const config = new oidc.Configuration(server, clientId, {}, secret === undefined ? oidc.None() : proof);
  config.timeout = WITHIN_SECONDS;
  config[oidc.customFetch] = ask;
  if (insecure) overHttp(config);
  // TLS alone would do by the standard; with this, the signature counts too.
  oidc.enableNonRepudiationChecks(config);
  return config;
}

/** Asks only hosts that are on the public internet, or that the operator allows. */
const fetcher =
  (on: Platform, insecure: boolean): oidc.CustomFetch =>
  (address, { method, headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const url = new URL(address);
      if (url.protocol !== 'https:' && !(insecure && isLocal(url))) return reject(new Error('Only https is asked'));
      const text = body instanceof URLSearchParams ? body.toString() : body;
      const sent = typeof text === 'string' ? Buffer.from(text) : undefined;
      const asking = requestOutside(url, {
        method,
        headers: { ...headers, ...(sent && { 'content-length': sent.length }) },
        signal,
        open: on.webhookHosts.allows(url),
        refusal: () => new Error('The host is not on the public internet'),
      });
      asking.on('error', reject);
      asking.once('close', () => reject(new Error('No response')));
      asking.once('response', (response) => void wholeOf(response).then(resolve, reject));
      asking.end(sent);
    });

async function wholeOf(response: IncomingMessage): Promise<Response> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    // Leaving the loop ends the connection.
    if (length > MOST_BYTES) throw new Error('The answer is too long');
    chunks.push(chunk);
  }
  const status = response.statusCode ?? 0;
  const isEmpty = status === 204 || status === 304 || chunks.length === 0;
  const headers = { 'content-type': response.headers['content-type'] ?? '' };
  return new Response(isEmpty ? null : Buffer.concat(chunks), { status, headers });
}

/** Limits what is going on at a time, and says in our words what went wrong. @throws ForbiddenError, UnavailableError */
async function talking<T>(on: Platform, { id, name }: ProviderRow, work: () => Promise<T>): Promise<T> {
  const talks = on.providerTalks;
  const own = talks.get(id) ?? 0;
  const together = [...talks.values()].reduce((sum, one) => sum + one, 0);
  if (own >= MOST_TALKS.ofProvider || together >= MOST_TALKS.together) {
    throw new UnavailableError('Too many people are signing in at the moment; try again');
  }
  talks.set(id, own + 1);
  try {
    return await work();
  } catch (error) {
    on.log.warn({ err: error, providerId: id }, 'An identity provider let nobody in');
    if (error instanceof oidc.AuthorizationResponseError) {
      throw new ForbiddenError(`${name} has not let you in`);
    }
    // What exactly a server inside answered is for the operator's log only.
    throw new ForbiddenError(
      `The answer of ${name} is not valid, or it could not be reached. Try again, or ask your administrator`,
    );
  } finally {
    const left = (talks.get(id) ?? 1) - 1;
    if (left > 0) talks.set(id, left);
    else talks.delete(id);
  }
}
