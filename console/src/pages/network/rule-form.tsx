import { useState } from 'react';
import { optionsOf } from '../../ui/choice.tsx';
import { NumberField, SelectField, TextField } from '../../ui/field.tsx';
import { useGroups } from './groups.tsx';
import { exposureOf, hasPorts, isIcmp, isOfIpv6, PROTOCOLS, type Rule, sentenceOf } from './rules.ts';

type Remote = 'anyone' | 'prefix' | 'group';

/** A rule of a draft. What is wrong with it, the server says when the draft is reviewed. */
export function RuleForm({
  rule: given,
  isNew,
  onDone,
  onCancel,
}: {
  rule: Rule;
  isNew: boolean;
  onDone: (rule: Rule) => void;
  onCancel: () => void;
}) {
  const { options, nameOf } = useGroups();
  const [rule, setRule] = useState(given);
  const [remote, setRemote] = useState<Remote>(remoteOf(given));
  const set = (change: Partial<Rule>) => setRule({ ...rule, ...change });
  const { protocol, ethertype, direction } = rule;
  const asked: Rule = {
    ...rule,
    remote_ip_prefix: remote === 'prefix' ? (rule.remote_ip_prefix ?? '') : null,
    remote_group_id: remote === 'group' ? (rule.remote_group_id ?? options[0]?.value ?? null) : null,
  };
  const open = exposureOf(asked);
  const title = isNew ? 'New rule' : 'Change the rule';
  return (
    <form
      className="card"
      aria-label={title}
      onSubmit={(event) => {
        event.preventDefault();
        onDone(asked);
      }}
    >
      <header>
        <h2>{title}</h2>
      </header>
      <div className="inside form">
        <SelectField
          label="Direction"
          value={direction}
          options={[
            { value: 'ingress', text: 'in: to the instances' },
            { value: 'egress', text: 'out: from the instances' },
          ]}
          onChange={(value) => set({ direction: value as Rule['direction'] })}
        />
        <SelectField
          label="IP version"
          value={ethertype}
          options={optionsOf(['IPv4', 'IPv6'])}
          onChange={(value) => set({ ethertype: value as Rule['ethertype'], protocol: inVersion(protocol, value) })}
        />
        <SelectField
          label="Protocol"
          value={protocol ?? ''}
          options={[
            { value: '', text: 'any' },
            ...PROTOCOLS.filter((one) => (ethertype === 'IPv4' ? !isOfIpv6(one) : one !== 'icmp')).map((value) => ({
              value,
              text: value,
            })),
          ]}
          onChange={(value) => set({ protocol: value || null, port_range_min: null, port_range_max: null })}
        />
        {(hasPorts(protocol) || isIcmp(protocol)) && <Numbers rule={rule} onChange={set} />}
        <SelectField
          label={direction === 'ingress' ? 'From' : 'To'}
          value={remote}
          options={[
            { value: 'anyone', text: 'anywhere' },
            { value: 'prefix', text: 'addresses' },
            { value: 'group', text: 'a group' },
          ]}
          onChange={(value) => setRemote(value as Remote)}
        />
        {remote === 'prefix' && (
          <TextField
            label="Addresses"
            required
            placeholder={ethertype === 'IPv4' ? '203.0.113.0/24' : '2001:db8::/32'}
            value={rule.remote_ip_prefix ?? ''}
            onChange={(remote_ip_prefix) => set({ remote_ip_prefix })}
          />
        )}
        {remote === 'group' && (
          <SelectField
            label="Group"
            value={asked.remote_group_id ?? ''}
            options={options}
            onChange={(remote_group_id) => set({ remote_group_id })}
          />
        )}
        <TextField
          label="Description"
          maxLength={255}
          value={rule.description}
          onChange={(description) => set({ description })}
        />
        <p role="status">
          {sentenceOf(asked, nameOf)} {open && <span className="badge warn exposed">{open}</span>}
        </p>
        <div className="row">
          <button type="submit" className="button primary">
            {isNew ? 'Add to the draft' : 'Change the draft'}
          </button>
          <button type="button" className="button" onClick={onCancel}>
            Cancel
          </button>
        </div>
      </div>
    </form>
  );
}

function remoteOf({ remote_group_id, remote_ip_prefix }: Rule): Remote {
  if (remote_group_id !== null) return 'group';
  return remote_ip_prefix === null ? 'anyone' : 'prefix';
}

/** Ports, or type and code of ICMP. */
function Numbers({ rule, onChange }: { rule: Rule; onChange: (change: Partial<Rule>) => void }) {
  const { protocol, port_range_min, port_range_max } = rule;
  const words = isIcmp(protocol)
    ? { first: 'Type', last: 'Code', none: 'Empty: all types', same: 'Empty: all codes', min: 0, max: 255 }
    : {
        first: 'First port',
        last: 'Last port',
        none: 'Empty: all ports',
        same: 'The same for one port',
        min: 1,
        max: 65_535,
      };
  return (
    <div className="row">
      <NumberField
        label={words.first}
        help={words.none}
        min={words.min}
        max={words.max}
        value={port_range_min ?? undefined}
        onChange={(value) => onChange(withFirstPort(rule, value ?? null))}
      />
      <NumberField
        label={words.last}
        help={words.same}
        min={words.min}
        max={words.max}
        value={port_range_max ?? undefined}
        onChange={(value) => onChange({ port_range_max: value ?? null })}
      />
    </div>
  );
}

/** Most rules are for one port: the last one follows the first until it is another. */
function withFirstPort(rule: Rule, first: number | null): Partial<Rule> {
  const follows = !isIcmp(rule.protocol) && (first === null || rule.port_range_max === rule.port_range_min);
  return { port_range_min: first, ...(follows && { port_range_max: first }) };
}

/** ICMP has another name in IPv6; some protocols are only there. */
function inVersion(protocol: string | null, version: string): string | null {
  if (protocol === 'icmp' && version === 'IPv6') return 'ipv6-icmp';
  if (protocol === null || version === 'IPv6' || !isOfIpv6(protocol)) return protocol;
  return protocol === 'ipv6-icmp' ? 'icmp' : null;
}
