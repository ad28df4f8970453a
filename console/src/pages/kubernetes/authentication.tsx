import { changedNames, type Values } from '../../lib/changes.ts';
import { CheckField, TextField } from '../../ui/field.tsx';
import type { FieldsProps, Group } from './settings.tsx';
import { TextsField } from './texts-field.tsx';

const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512'];
const NOTHING: Values = {
  issuer_url: null,
  client_id: null,
  username_claim: null,
  username_prefix: null,
  groups_claim: null,
  groups_prefix: null,
  signing_algs: null,
  required_claims: null,
};
const LABELS: Readonly<Record<string, string>> = {
  issuer_url: 'Issuer URL',
  client_id: 'Client ID',
  username_claim: 'User name claim',
  username_prefix: 'User name prefix',
  groups_claim: 'Groups claim',
  groups_prefix: 'Groups prefix',
  signing_algs: 'Signing algorithms',
  required_claims: 'Required claims',
};

const isEmpty = (values: Values): boolean => Object.values(values).every((value) => value === null);

export const AUTHENTICATION: Group = {
  name: 'authentication',
  title: 'Authentication',
  read: (cluster) => ({ ...NOTHING, ...cluster?.authentication?.oidc }),
  patch: (before, wanted) => ({
    oidc: isEmpty(wanted) ? null : Object.fromEntries(changedNames(before, wanted).map((name) => [name, wanted[name]])),
  }),
  Fields,
  labelOf: (name) => LABELS[name] ?? name,
};

function Fields({ values, onChange, faults, cluster }: FieldsProps) {
  const set = (name: string, value: unknown) => onChange({ ...values, [name]: value });
  const faultsOf = (name: string) => faults[`oidc.${name}`];
  const text = (name: string, help: string, required = false) => (
    <TextField
      label={LABELS[name] ?? name}
      value={(values[name] as string | null) ?? ''}
      onChange={(value) => set(name, value === '' ? null : value)}
      help={help}
      faults={faultsOf(name)}
      required={required}
    />
  );
  const chosen = (values.signing_algs ?? []) as string[];
  const used = !isEmpty(values);
  return (
    <div className="card">
      <header>
        <h2>OpenID Connect</h2>
        <span className="muted">Lets people sign in to Kubernetes with an account of another provider.</span>
        {used && cluster && (
          <button type="button" className="button" onClick={() => onChange(NOTHING)}>
            Remove OpenID Connect
          </button>
        )}
      </header>
      <div className="inside form">
        {text(
          'issuer_url',
          'Exactly as in the iss claim of its tokens; must be https, without a query or fragment. Kubernetes reads its discovery document at /.well-known/openid-configuration; the review checks the form of the URL, not the document.',
          used,
        )}
        {text('client_id', 'Tokens must be issued for this client.', used)}
        {text('username_claim', 'Contains the user name; sub if empty.')}
        {text('username_prefix', 'Is put before the user name; oidc: if empty. A single - stands for no prefix.')}
        {text('groups_claim', 'Contains the groups of the user.')}
        {text('groups_prefix', 'Is put before each group; oidc: if empty.')}
        <fieldset className="field">
          <legend className="label">Signing algorithms</legend>
          <div className="row">
            {ALGORITHMS.map((name) => (
              <CheckField
                key={name}
                label={name}
                value={chosen.includes(name)}
                onChange={(on) => {
                  const next = on ? [...chosen, name] : chosen.filter((one) => one !== name);
                  set('signing_algs', next.length === 0 ? null : next);
                }}
              />
            ))}
          </div>
          <p className="help">Only RS256 if none is chosen.</p>
          <p className="fault">{faultsOf('signing_algs')?.join(' ')}</p>
        </fieldset>
        <TextsField
          label="Required claims"
          value={(values.required_claims ?? {}) as Record<string, string>}
          onChange={(value) => set('required_claims', Object.keys(value).length === 0 ? null : value)}
          help="A token must contain these claims with exactly these values."
          faults={faults}
          path="oidc.required_claims"
        />
      </div>
    </div>
  );
}
