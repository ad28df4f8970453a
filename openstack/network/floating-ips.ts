import { type Static, Type } from 'typebox';
import type { Specs } from '../../src/backends/contract/specs.ts';
import type { Resource, Site } from '../resource.ts';
import { Common, inNeutron } from './neutron.ts';
import type { outside } from './outlets.ts';

const FloatingIp = Type.Object({
  ...Common,
  floating_ip_address: Type.String(),
  fixed_ip_address: Type.Union([Type.String(), Type.Null()]),
  port_id: Type.Union([Type.String(), Type.Null()]),
});
const neutron = inNeutron('floating_ip', 'floatingip', FloatingIp);

/** Floating addresses come from the network `external`. */
export function floatingIpsFrom(
  external: ReturnType<typeof outside>,
): Resource<'floating_ip', Static<typeof FloatingIp>> {
  return {
    ...neutron,
    async create(site, spec) {
      return neutron.make(site, {
        floating_network_id: await external(site.api),
        floating_ip_address: spec.address,
        ...(spec.target && (await targetOf(site, spec))),
      });
    },
    async change(site, live, spec) {
      const wanted = await targetOf(site, spec);
      const isLed =
        live.port_id === wanted.port_id &&
        (wanted.port_id === null || live.fixed_ip_address === wanted.fixed_ip_address);
      if (isLed) return undefined;
      await neutron.put(site.api, live, wanted);
      return { doing: 'assigning' };
    },
    observed: () => ({}),
    seen: ({ port_id, fixed_ip_address }) => [port_id, fixed_ip_address],
  };
}

async function targetOf({ api, names }: Site<'floating_ip'>, { target }: Specs['floating_ip']) {
  if (!target) return { port_id: null };
  return { port_id: await names.of(api, 'port', target.portId), fixed_ip_address: target.fixedAddress };
}
