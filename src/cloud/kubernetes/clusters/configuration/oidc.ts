import type { Oidc } from '../../../../db/json-columns.ts';
import type { FieldProblem } from '../../../../lib/errors.ts';

const FIELD = 'authentication.oidc';
/** Kubernetes' own users and groups have names that begin like this. */
const RESERVED = 'system:';
const TEXT_FIELDS = [
  'client_id',
  'groups_claim',
  'groups_prefix',
  'issuer_url',
  'username_claim',
  'username_prefix',
] as const;
const CONTROL = /\p{Cc}/u;

/** Returns the problems that the Kubernetes API server would have with these OIDC settings. */
export function oidcProblems(oidc: Oidc): FieldProblem[] {
  return [
    ...textProblems(oidc),
    ...pairProblems(oidc),
    ...issuerProblems(oidc.issuer_url),
    ...prefixProblems(oidc),
    ...claimProblems(oidc.required_claims ?? {}),
    ...algorithmProblems(oidc.signing_algs ?? []),
  ];
}

function textProblems(oidc: Oidc): FieldProblem[] {
  return TEXT_FIELDS.flatMap((name) => {
    const message = textFault(oidc[name]);
    return message === undefined ? [] : [{ field: `${FIELD}.${name}`, message }];
  });
}

function textFault(text: string | null): string | undefined {
  if (text === null) return undefined;
  if (text === '') return 'Must not be empty: send null or leave the field out.';
  if (CONTROL.test(text)) return 'Must not contain control characters.';
  return text === text.trim() ? undefined : 'Must not start or end with white space.';
}

// The API server refuses to start with only one of the two, and ignores all other settings without them.
function pairProblems(oidc: Oidc): FieldProblem[] {
  return (['issuer_url', 'client_id'] as const)
    .filter((name) => oidc[name] === null)
    .map((name) => ({
      field: `${FIELD}.${name}`,
      message: 'Is required: OIDC needs both issuer_url and client_id. To remove OIDC, send "oidc": null.',
    }));
}

function issuerProblems(issuer: string | null): FieldProblem[] {
  const message = issuer === null || issuer === '' ? undefined : issuerFault(issuer);
  return message === undefined ? [] : [{ field: `${FIELD}.issuer_url`, message }];
}

// See apiserver/validation.go. Tokens' `iss` must equal the issuer character by character, so it is never rewritten.
function issuerFault(issuer: string): string | undefined {
  if (!issuer.startsWith('https://')) return 'Must start with https://, such as https://accounts.example.com.';
  const url = URL.canParse(issuer) ? new URL(issuer) : undefined;
  if (!url || /[\s\\]/.test(issuer) || !/^https:\/\/[^/]/.test(issuer)) {
    return 'Must be a valid URL, such as https://accounts.example.com.';
  }
  if (url.username !== '' || url.password !== '' || /^https:\/\/[^/?#]*@/.test(issuer)) {
    return 'Must not contain a user name or password.';
  }
  if (issuer.includes('?')) return 'Must not contain a query (the part from "?").';
  return issuer.includes('#') ? 'Must not contain a fragment (the part from "#").' : undefined;
}

// `sys` in front of `tem:admin` gives a system name, just as `system:` does.
function prefixProblems(oidc: Oidc): FieldProblem[] {
  return (['username_prefix', 'groups_prefix'] as const).flatMap((name) => {
    const prefix = oidc[name] ?? '';
    const reaches = prefix !== '' && (prefix.startsWith(RESERVED) || RESERVED.startsWith(prefix));
    const message = `Must not result in names that start with ${RESERVED}, which Kubernetes reserves. Use another prefix, such as oidc:`;
    return reaches ? [{ field: `${FIELD}.${name}`, message }] : [];
  });
}

// The API server reads `name=value` and trims both sides.
function claimProblems(claims: Readonly<Record<string, string>>): FieldProblem[] {
  return Object.entries(claims).flatMap(([name, value]) => {
    const nameFault = name.includes('=') ? 'The name of a claim must not contain "=".' : textFault(name);
    const message = nameFault ?? textFault(value);
    return message === undefined ? [] : [{ field: `${FIELD}.required_claims.${name}`, message }];
  });
}

function algorithmProblems(algorithms: readonly string[]): FieldProblem[] {
  return algorithms.flatMap((name, index) =>
    algorithms.indexOf(name) === index
      ? []
      : [
          {
            field: `${FIELD}.signing_algs.${index}`,
            message: `Contains ${name} twice. List each algorithm once.`,
          },
        ],
  );
}
