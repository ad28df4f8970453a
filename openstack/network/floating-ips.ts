import { type Static, Type } from 'typebox';
import { Refused } from '../../src/backends/contract/backend.ts';
import type { Specs } from '../../src/backends/contract/specs.ts';
import type { Api } from '../cloud/client.ts';
import type { Resource, Site } from '../resource.ts';
import { Common, inNeutron } from './neutron.ts';

const FloatingIp = Type.Object({
  ...Common,
  floating_ip_address: Type.String(),
  fixed_ip_address: Type.Union([Type.String(), Type.Null()]),
  port_id: Type.Union([Type.String(), Type.Null()]),
});
const neutron = inNeutron('floating_ip', 'floatingip', FloatingIp);
const External = Type.Object({ id: Type.String(), name: Type.String() });

/** Floating addresses come from the network `external`, a name or an ID; from the only external one if it isn't given. */
export function floatingIpsFrom(external: string | undefined): Resource<'floating_ip', Static<typeof FloatingIp>> {
  let found: string | undefined;

  async function externalNetwork(api: Api): Promise<string> {
    if (found !== undefined) return found;
    const all = await api.list('network', '/networks', External, { 'router:external': 'true' });
    const fitting = all.filter(({ id, name }) => external === undefined || [id, name].includes(external));
    const [one] = fitting;
    if (!one || fitting.length > 1)
      throw new Refused(
        'The cloud has no external network for floating addresses, or more than one: name it in backends.yaml',
      );
    found = one.id;
    return found;
  }

  return {
    ...neutron,
    async create(site, spec) {
      return neutron.make(site, {
        floating_network_id: await externalNetwork(site.api),
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
