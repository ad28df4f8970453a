import { randomBytes } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import { type Configuration, Provider } from 'oidc-provider';

/** What the provider knows of the person who signs in. */
export interface PersonOfProvider {
  sub: string;
  email?: string;
  email_verified?: boolean;
  name?: string;
  groups?: string[];
}

export interface IdentityProviderServer {
  issuer: string;
  /** Who signs in next. */
  person: PersonOfProvider;
  /** Changes what its ID tokens say; `stranger` signs them with another key of the same name. */
  forge?: ((claims: JWTPayload) => JWTPayload) | undefined;
  stranger: boolean;
  /** Follows what a browser would, from the address that it was sent to until the one that it is sent back to. */
  visit(url: string): Promise<string>;
  /** Lets a code expire. */
  expire(code: string): Promise<void>;
  stop(): Promise<void>;
}

export const CLIENT = { oidc_client_id: 'tradewind', oidc_client_secret: 'a-secret-of-the-test-only' };

/** Starts a real identity provider on this machine, which lets everybody in as `person` and asks nothing. */
export async function startIdentityProvider(redirectUri: string): Promise<IdentityProviderServer> {
  const [own, other] = [await pairOf(), await pairOf()];
  const app: { handle: http.RequestListener } = { handle: (_request, response) => void response.end() };
  const server = http.createServer((request, response) => app.handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const at = { person: { sub: 'nobody' } } as { person: PersonOfProvider };
  const config: Configuration = {
    clients: [
      {
        client_id: CLIENT.oidc_client_id,
        client_secret: CLIENT.oidc_client_secret,
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    jwks: { keys: [{ ...(await exportJWK(own.privateKey)), kid: 'own', alg: 'RS256', use: 'sig' }] },
    cookies: { keys: [randomBytes(16).toString('hex')] },
    claims: { openid: ['sub', 'groups'], email: ['email', 'email_verified'], profile: ['name'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    ttl: { Interaction: 600, Grant: 600, Session: 600, AccessToken: 600, IdToken: 600, AuthorizationCode: 600 },
    findAccount: (_ctx, accountId) => ({ accountId, claims: async () => ({ ...at.person, sub: accountId }) }),
    loadExistingGrant: async (ctx) => {
      const { client, session } = ctx.oidc;
      const grant = new ctx.oidc.provider.Grant({
        clientId: client?.clientId ?? '',
        accountId: session?.accountId ?? '',
      });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
  };
  const provider = new Provider(issuer, config);
  // It says on the console what is not for production.
  provider.use(async (ctx, next) => {
    if (ctx.path.startsWith('/interaction/')) {
      ctx.respond = false;
      await provider.interactionFinished(ctx.req, ctx.res, { login: { accountId: at.person.sub } });
      return;
    }
    await next();
    const body = ctx.body as { id_token?: string } | undefined;
    if (ctx.path !== '/token' || !body?.id_token || (!made.forge && !made.stranger)) return;
    const { payload, protectedHeader } = await jwtVerify(body.id_token, own.publicKey);
    const claims = made.forge ? made.forge(payload) : payload;
    const key = made.stranger ? other.privateKey : own.privateKey;
    body.id_token = await new SignJWT(claims).setProtectedHeader({ ...protectedHeader, alg: 'RS256' }).sign(key);
  });
  app.handle = provider.callback();

  const made: IdentityProviderServer = {
    issuer,
    get person() {
      return at.person;
    },
    set person(person) {
      at.person = person;
    },
    stranger: false,
    async visit(url) {
      const jar = new Map<string, string>();
      let next = url;
      for (let hops = 0; hops < 10; hops++) {
        const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
        const answer = await fetch(next, { redirect: 'manual', headers: { cookie } });
        for (const line of answer.headers.getSetCookie()) {
          const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
          jar.set(name, value);
        }
        const location = answer.headers.get('location');
        if (location === null) throw new Error(`${answer.status} ${await answer.text()}`);
        next = new URL(location, next).href;
        if (next.startsWith(redirectUri)) return next;
      }
      throw new Error('Too many redirects');
    },
    async expire(code) {
      await (await provider.AuthorizationCode.find(code))?.destroy();
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return made;
}

const pairOf = () => generateKeyPair('RS256', { extractable: true });
