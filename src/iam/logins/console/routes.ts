import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Api } from '../../../http/server.ts';
import { attempt, ForbiddenError, UnauthenticatedError } from '../../../lib/errors.ts';
import { Closed } from '../../../lib/wire.ts';
import type { Platform } from '../../../platform.ts';
import { senderOf } from '../passwords/service.ts';
import { LoginRequest, type TokenPair } from '../schema.ts';
import { SecondFactorLogin } from '../second-factors/schema.ts';
import { completeLogin } from '../second-factors/service.ts';
import * as logins from '../service.ts';
import { browserCookie, exchangeCode, exchangeToken } from './service.ts';

const BASE = '/iam/auth/console';
const DAY_SECONDS = 24 * 3_600;

const Code = Closed({ code: Type.String({ minLength: 1, maxLength: 64 }) });
const Token = Closed({ token: Type.String({ minLength: 1, maxLength: 512 }) });
const Nothing = Closed({});
const Answer = Type.Object({ access: Type.String() });
const WithCodes = Type.Object({ ...Answer.properties, recovery_codes: Type.Optional(Type.Array(Type.String())) });

/**
 * Sessions of the console. The page has the access token; the refresh token is in a cookie that only these operations read, so no other
 * operation can be called with what a browser sends by itself. They are for the console alone, and not part of the API's document.
 */
export function consoleSessionRoutes(app: Api, on: Platform): void {
  const config = { access: 'public', secretAnswer: true } as const;
  const common = { config, onRequest: async (request: FastifyRequest) => refuseOthers(request) };
  const schema = { hide: true, response: { 200: Answer } };

  app.post(
    `${BASE}/exchange`,
    { ...common, schema: { ...schema, body: Type.Union([Code, Token]) } },
    async (request, reply) => {
      const { body } = request;
      const from = senderOf(request);
      const pair =
        'code' in body
          ? await exchangeCode(on, body.code, from, browserOf(on, request))
          : await exchangeToken(on, body.token, from);
      return session(request, reply, pair);
    },
  );

  app.post(`${BASE}/login`, { ...common, schema: { ...schema, body: LoginRequest } }, async (request, reply) =>
    session(request, reply, await logins.logIn(on, request.body, senderOf(request))),
  );

  app.post(
    `${BASE}/second_factor`,
    { ...common, schema: { hide: true, body: SecondFactorLogin, response: { 200: WithCodes } } },
    async (request, reply) => {
      const { recovery_codes, ...pair } = await completeLogin(on, request.body, senderOf(request));
      return { ...session(request, reply, pair), ...(recovery_codes && { recovery_codes }) };
    },
  );

  // The cookie stays as it is: a reload can cut the answer off, with the next cookie in it.
  app.post(`${BASE}/refresh`, { ...common, schema: { ...schema, body: Nothing } }, async (request, reply) =>
    session(request, reply, await logins.refreshPair(on, requireCookie(request), { kept: true })),
  );

  app.post(
    `${BASE}/logout`,
    { config, onRequest: common.onRequest, schema: { hide: true, body: Nothing, response: { 204: Type.Null() } } },
    async (request, reply) => {
      keep(request, reply, '', 0);
      const token = cookieOf(request);
      if (token !== undefined) await logins.logOut(on, token);
      return reply.code(204).send(null);
    },
  );
}

/**
 * Cookies know no port: a page of another server on this machine could call with ours. A browser that says which page calls is asked; where it
 * doesn't, as on a name without TLS, the origin has to be ours.
 * @throws ForbiddenError
 */
function refuseOthers({ headers }: FastifyRequest): void {
  const { origin, host } = headers;
  const site = headers['sec-fetch-site'] ?? 'same-origin';
  const from = origin === undefined ? undefined : attempt(() => new URL(origin).host);
  if (site === 'same-origin' && from !== undefined && from === host) return;
  throw new ForbiddenError('Only the pages of the console may call this');
}

function session(request: FastifyRequest, reply: FastifyReply, { access, refresh }: TokenPair): { access: string } {
  keep(request, reply, refresh, DAY_SECONDS);
  return { access };
}

function keep(request: FastifyRequest, reply: FastifyReply, value: string, maxAge: number): void {
  const cookie = {
    name: nameOf(request),
    value,
    maxAge,
    httpOnly: true,
    sameSite: 'strict',
    path: BASE,
    secure: request.protocol === 'https',
  } as const;
  void reply.header('set-cookie', stringifySetCookie(cookie));
}

const browserOf = (on: Platform, { headers }: FastifyRequest): string | undefined =>
  parseCookie(headers.cookie ?? '')[browserCookie(on).name] || undefined;

/** Servers on other ports of the same name have cookies of their own. */
const nameOf = ({ host }: FastifyRequest): string => `tw_${/:(\d+)$/.exec(host)?.[1] ?? 'default'}`;

const cookieOf = (request: FastifyRequest): string | undefined =>
  parseCookie(request.headers.cookie ?? '')[nameOf(request)] || undefined;

/** @throws UnauthenticatedError */
function requireCookie(request: FastifyRequest): string {
  const value = cookieOf(request);
  if (value !== undefined) return value;
  throw new UnauthenticatedError('Not signed in', true);
}
