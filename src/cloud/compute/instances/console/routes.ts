import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { operations } from '../../../../http/operations.ts';
import type { Api } from '../../../../http/server.ts';
import { acceptWebSockets } from '../../../../http/websockets.ts';
import { Closed, Named, OptionalText, Query } from '../../../../lib/wire.ts';
import type { Platform } from '../../../../platform.ts';
import { InstanceParams } from '../schema.ts';
import { admitViewer, getConsole } from './service.ts';

const ConsoleQuery = Query({
  console_type: OptionalText({
    maxLength: 64,
    description: 'Console type; by default any that the infrastructure has',
    examples: ['serial'],
  }),
});

const ConsoleAnswer = Named('InstanceConsole', {
  remote_console: Named('RemoteConsole', {
    protocol: Type.String({ examples: ['serial'] }),
    type: Type.String({ examples: ['serial'] }),
    url: Type.String({ format: 'uri', description: 'Contains a secret' }),
  }),
});

const PATH = '/tradewind/v1/instance-console';

/** A console takes what is typed into it, so read access isn't enough. */
export function instanceConsoleRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags: ['Instances'], params: InstanceParams, access: 'operate' });
  api.get(
    '/cloud/v1/instances/:project_id/:region_id/:instance_id/get_console',
    'getInstanceConsole',
    'Get a console of an instance',
    {
      noted: true,
      secretAnswer: true,
      refuses: [409, 429],
      description:
        "An address beginning with ws or wss is a WebSocket that passes on the bytes of the console. It has to be opened within a minute, and closes when the instance stops. Other addresses are the infrastructure's own. Simulated machines have a serial console with a boot log and no guest. Is recorded in the audit log. Returns 400 if the infrastructure of the region has no such console, and 409 while the instance does not run.",
      query: ConsoleQuery,
      answer: ConsoleAnswer,
      handler: async (request) => {
        const { scope, params, query, log } = request;
        const which = { instanceId: params.instance_id, type: query.console_type };
        return { remote_console: await getConsole(on, scope, { ...which, base: baseOf(on, request), log }) };
      },
    },
  );
}

/** The address at which the caller reaches us. TLS may end at a proxy that nobody told us to trust. */
function baseOf(on: Platform, { protocol, host }: Pick<FastifyRequest, 'host' | 'protocol'>): URL {
  const { publicUrl } = on.letterhead();
  const isPublic = publicUrl !== undefined && new URL(publicUrl).host === host;
  const base = isPublic ? publicUrl : `${protocol}://${host}`;
  return new URL(`${URL.canParse(base) ? base.replace(/^http/, 'ws') : 'ws://localhost'}${PATH}`);
}

/** Serves the consoles of machines by WebSocket. A ticket lets the client in. */
export function consoleStreams(app: Api, on: Platform): void {
  const takeOver = acceptWebSockets(app, PATH);
  const schema = { hide: true, querystring: Closed({ token: Type.String({ minLength: 1, maxLength: 2_048 }) }) };
  app.get(PATH, { config: { access: 'public', secretAnswer: true }, schema }, async (request, reply) => {
    const { query, ip: address, headers, id: requestId } = request;
    const viewer = { ticket: query.token, address, origin: headers.origin, requestId, log: on.log };
    const { open, stillAllowed, enter } = await admitViewer(on, viewer);
    takeOver(request, reply, { open, stillAllowed, enter, log: on.log });
  });
}
