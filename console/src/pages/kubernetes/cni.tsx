import { changedNames, type Values } from '../../lib/changes.ts';
import { optionsOf } from '../../ui/choice.tsx';
import { CheckField, NumberField, SelectField } from '../../ui/field.tsx';
import type { FieldsProps, Group } from './settings.tsx';

/** What Cilium has on a new cluster. */
const CILIUM: Values = {
  cni_exclusive: true,
  encryption: false,
  hubble_relay: false,
  hubble_ui: false,
  lb_acceleration: false,
  lb_mode: 'snat',
  mask_size: 24,
  mask_size_v6: 120,
  routing_mode: 'tunnel',
  tunnel: 'geneve',
};

export const CNI: Group = {
  name: 'cni',
  title: 'CNI',
  read: (cluster) =>
    cluster
      ? { provider: cluster.cni?.provider ?? 'calico', ...cluster.cni?.cilium }
      : { provider: 'calico', ...CILIUM },
  patch(before, wanted) {
    const changed = changedNames(before, wanted).filter((name) => name !== 'provider');
    // The routing mode would follow from the tunnel alone.
    const follows = wanted.tunnel === '' ? 'native' : 'tunnel';
    const alone = changed.includes('tunnel') && !changed.includes('routing_mode') && wanted.routing_mode !== follows;
    const names = alone ? [...changed, 'routing_mode'] : changed;
    return {
      ...(before.provider !== wanted.provider && { provider: wanted.provider }),
      ...(wanted.provider === 'cilium' &&
        names.length > 0 && { cilium: Object.fromEntries(names.map((name) => [name, wanted[name]])) }),
    };
  },
  Fields,
  labelOf: (name) => LABELS[name] ?? name,
};

const LABELS: Readonly<Record<string, string>> = {
  provider: 'Provider',
  cni_exclusive: 'Cilium alone',
  encryption: 'Encryption between nodes',
  hubble_relay: 'Hubble Relay',
  hubble_ui: 'Hubble UI',
  lb_acceleration: 'XDP acceleration',
  lb_mode: 'Load balancing mode',
  mask_size: 'IPv4 prefix of each node',
  mask_size_v6: 'IPv6 prefix of each node',
  routing_mode: 'Routing mode',
  tunnel: 'Tunnel protocol',
};

/** What excludes what, as the server checks it. */
const RULES: readonly { text: string; broken: (values: Values) => boolean }[] = [
  {
    text: 'Hubble UI needs Hubble Relay.',
    broken: ({ hubble_ui, hubble_relay }) => hubble_ui === true && hubble_relay !== true,
  },
  {
    text: 'Routing by tunnel needs a tunnel protocol; only native routing goes without.',
    broken: ({ routing_mode, tunnel }) => routing_mode === 'tunnel' && tunnel === '',
  },
  {
    text: 'The modes dsr and hybrid don’t work through a VXLAN tunnel: use Geneve, native routing, or snat.',
    broken: ({ lb_mode, routing_mode, tunnel }) =>
      lb_mode !== 'snat' && routing_mode !== 'native' && tunnel === 'vxlan',
  },
];

function Fields({ values, onChange, faults, cluster }: FieldsProps) {
  const isNew = cluster === undefined;
  const cilium = values.provider === 'cilium';
  const set = (change: Values) => onChange({ ...values, ...change });
  const faultsOf = (name: string) => faults[`cilium.${name}`];
  const flag = (name: string, help: string) => (
    <CheckField
      label={LABELS[name] ?? name}
      value={values[name] === true}
      onChange={(value) => set({ [name]: value })}
      help={help}
      faults={faultsOf(name)}
    />
  );
  return (
    <div className="card">
      <header>
        <h2>Network plug-in</h2>
        {!isNew && (
          <span className="muted">
            {cilium ? 'Cilium' : 'Calico'}, which was chosen when the cluster was created and stays.
          </span>
        )}
      </header>
      <div className="inside form">
        {isNew && (
          <SelectField
            label="Provider"
            value={String(values.provider)}
            onChange={(provider) => set({ provider })}
            options={[
              { value: 'calico', text: 'Calico' },
              { value: 'cilium', text: 'Cilium' },
            ]}
            help="Can’t be changed after creation."
            faults={faults.provider}
          />
        )}
        {!cilium && <p className="muted">Calico has no settings. Those below come with Cilium.</p>}
        {cilium && (
          <>
            <SelectField
              label="Routing mode"
              value={String(values.routing_mode)}
              onChange={(routing_mode) =>
                set({ routing_mode, ...(routing_mode === 'tunnel' && values.tunnel === '' && { tunnel: 'geneve' }) })
              }
              options={optionsOf(['tunnel', 'native'])}
              help="How packets of pods get from node to node."
              faults={faultsOf('routing_mode')}
            />
            <SelectField
              label="Tunnel protocol"
              value={String(values.tunnel)}
              onChange={(tunnel) => set({ tunnel, ...(tunnel === '' && { routing_mode: 'native' }) })}
              options={[
                { value: 'geneve', text: 'geneve' },
                { value: 'vxlan', text: 'vxlan' },
                { value: '', text: 'none' },
              ]}
              help="None goes with native routing only."
              faults={faultsOf('tunnel')}
            />
            <SelectField
              label="Load balancing mode"
              value={String(values.lb_mode)}
              onChange={(lb_mode) => set({ lb_mode })}
              options={optionsOf(['snat', 'dsr', 'hybrid'])}
              help="With dsr, nodes answer clients directly; hybrid does so for TCP only."
              faults={faultsOf('lb_mode')}
            />
            {flag('lb_acceleration', 'Balances load in the driver of the network card.')}
            {flag('encryption', 'WireGuard between nodes.')}
            {flag('hubble_relay', 'Collects what Hubble sees of the traffic of all nodes.')}
            {flag('hubble_ui', 'Shows it in a browser.')}
            {flag(
              'cni_exclusive',
              'Cilium takes over the CNI folder of each node. Without, other plug-ins can run beside it.',
            )}
            {isNew ? (
              <>
                <NumberField
                  label="IPv4 prefix of each node"
                  value={values.mask_size as number | undefined}
                  onChange={(mask_size) => set({ mask_size })}
                  min={8}
                  max={30}
                  help="Can’t be changed after creation."
                  faults={faultsOf('mask_size')}
                />
                <NumberField
                  label="IPv6 prefix of each node"
                  value={values.mask_size_v6 as number | undefined}
                  onChange={(mask_size_v6) => set({ mask_size_v6 })}
                  min={48}
                  max={126}
                  help="Can’t be changed after creation."
                  faults={faultsOf('mask_size_v6')}
                />
              </>
            ) : (
              <p className="muted">
                Each node has an IPv4 range of /{String(values.mask_size)} and an IPv6 range of /
                {String(values.mask_size_v6)} for its pods. This was fixed when the cluster was created.
              </p>
            )}
            <section aria-labelledby="excludes">
              <h3 id="excludes">What excludes what</h3>
              <ul>
                {RULES.map(({ text, broken }) => (
                  <li key={text} className="cni-rule">
                    {broken(values) ? (
                      <span className="badge bad">conflict</span>
                    ) : (
                      <span className="badge good">kept</span>
                    )}
                    <span>{text}</span>
                  </li>
                ))}
              </ul>
            </section>
          </>
        )}
      </div>
    </div>
  );
}
