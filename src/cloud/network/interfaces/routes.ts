import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import type { Platform } from '../../../platform.ts';
import { PortParams } from '../ports/schema.ts';
import { securePort } from '../ports/service.ts';
import { InterfaceAnswer, presentedInterfaces } from './service.ts';

const PORTS = '/cloud/v1/ports/:project_id/:region_id';

const SECURITY_SWITCHES = [
  {
    path: 'enable_port_security',
    enabled: true,
    operationId: 'enablePortSecurity',
    summary: 'Enable port security',
    description: 'Takes effect immediately. If it is already enabled, nothing changes.',
  },
  {
    path: 'disable_port_security',
    enabled: false,
    operationId: 'disablePortSecurity',
    summary: 'Disable port security',
    description:
      'Takes effect immediately. Removes the security groups of the port, which need port security. Returns 409 while the port has allowed address pairs, and for ports in the external network.',
  },
];

/** Ports that answer as interfaces, with their networks and floating IPs. */
export function portSecurityRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags: ['Ports'], params: PortParams, deprecated: true });
  for (const { path, enabled, operationId, summary, description } of SECURITY_SWITCHES) {
    api.post(`${PORTS}/:port_id/${path}`, operationId, summary, {
      description,
      answer: InterfaceAnswer,
      handler: async ({ scope, params }) => {
        const row = await securePort(on, scope, params.port_id, enabled);
        const [answer] = await presentedInterfaces(on, [row], scope);
        if (!answer) throw new TypeError('a port has a network that its project sees');
        return answer;
      },
    });
  }
}
